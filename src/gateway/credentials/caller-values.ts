import { encodeHeaderValue } from '../../client/transports/param-headers.ts';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import {
  type CallerField,
  callerText,
  headerOfAssertion,
  omitBeyond,
  omittedHeader,
  sharedFields,
} from '../../oauth/caller-fields.ts';
import type { AssertCaller } from './caller-assertion.ts';
import { checkFits } from './create-credentials.ts';
import type { Credentials } from './credentials.ts';

/** Data about its callers that a server with a URL gets. */
export interface RemoteCallerOptions {
  /** Headers of each request, with the field that each contains. */
  headers?: Readonly<Record<string, CallerField>> | undefined;
  /** True for a signed assertion, or its header; see `headerOfAssertion`. */
  assertion?: boolean | { header: string } | undefined;
}

/** Data about its callers that a program gets. */
export interface StdioCallerOptions {
  /** Variables of each process, with the field that each contains. */
  env?: Readonly<Record<string, CallerField>> | undefined;
  /** True for a signed assertion in `_meta` of each request, see `withAssertion`. */
  assertion?: boolean | undefined;
}

/** Adds the data about a caller to the credentials that the backend gets for the caller. */
export type AddCallerValues = (beside: Credentials, caller: AuthInfo) => Credentials;

/** Maximum length of all headers about a caller, in bytes: servers often reject more than 8 KiB of headers. */
const maxHeaderBytes = 4_096;

/**
 * Requires that no header or variable of a backend is set twice.
 * @param kind word for the names, for the operator
 * @throws Error with a sentence for the operator
 */
export function checkNames(kind: 'header' | 'variable', names: readonly string[]): void {
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined)
    throw new Error(`The ${kind} ${twice} is set twice: each needs a name of its own.`);
}

/**
 * Creates the headers about callers. Values with other characters than visible ASCII are encoded as MCP encodes values of
 * headers, so no value can end its header (RFC 9110 section 5.5). A value that does not fit is left out, and
 * `x-gatehouse-omitted` names its header.
 */
export function createCallerHeaders(options: RemoteCallerOptions, assert: AssertCaller): AddCallerValues {
  const fields = Object.entries(options.headers ?? {});
  const header = headerOfAssertion(options.assertion);
  return (beside, caller) => ({
    ...beside,
    freshHeaders() {
      const values = fields.flatMap(([name, field]) => {
        const value = encodeHeaderValue(callerText(caller, field));
        return value === undefined ? [] : [[name.toLowerCase(), value, field] as const];
      });
      const omitted = omitBeyond(
        values.map(([name, value, field]) => [name, value.length, field]),
        maxHeaderBytes,
      );
      return {
        ...Object.fromEntries(
          values.flatMap(([name, value]) => (omitted.includes(name) ? [] : [[name, value]])),
        ),
        ...(omitted.length > 0 && { [omittedHeader]: omitted.join(', ') }),
        ...(header !== undefined && { [header]: assert(caller) }),
      };
    },
  });
}

/** Returns the names of all headers about a caller. */
export function headersOfCaller({ headers = {}, assertion }: RemoteCallerOptions): string[] {
  const names = Object.keys(headers);
  const ofAssertion = headerOfAssertion(assertion);
  return [
    ...names,
    ...(names.length > 0 ? [omittedHeader] : []),
    ...(ofAssertion === undefined ? [] : [ofAssertion]),
  ];
}

/** Creates the variables about the caller that a process belongs to. A value that a variable cannot have is left out. */
export function createCallerVariables({ env = {} }: StdioCallerOptions): AddCallerValues {
  const fields = Object.entries(env);
  return (beside, caller) => ({
    ...beside,
    env: {
      ...beside.env,
      ...Object.fromEntries(
        fields.flatMap(([name, field]) => {
          const value = callerText(caller, field);
          return value === undefined || checkFits({ env: name }, value) ? [] : [[name, value]];
        }),
      ),
    },
  });
}

/**
 * Checks if the processes of a program belong to the callers whose data they get as variables.
 * @throws Error with a sentence for the operator
 */
export function checkCallerVariables(
  { env = {} }: StdioCallerOptions,
  { process, spare }: { process: 'session' | 'account' | 'shared'; spare: number },
): void {
  const fields = Object.values(env);
  if (fields.length === 0) return;
  if (process === 'shared')
    throw new Error(
      'caller.env: a process that everybody shares cannot have variables of one caller; use process "session" or "account", or caller.assertion.',
    );
  if (spare > 0) throw new Error('caller.env: a spare process is started before its caller is known.');
  const ofLogin = fields.find((field) => !sharedFields.includes(field));
  if (process === 'account' && ofLogin !== undefined)
    throw new Error(
      `caller.env: all logins and clients of an account share its process, and ${ofLogin} may differ between them. Use process "session", or caller.assertion.`,
    );
}
