import { ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import {
  ClientError,
  DiscoveryError,
  type FormerLogin,
  InsufficientScopeError,
  LoginRequiredError,
  type MachineLogin,
  requireUrl,
} from '../../../client/index.ts';
import { CliError, type ExitCode, exitCodes } from '../../cli-error.ts';
import { programName, shellWord } from '../../command-text.ts';
import { printableLine } from '../../output.ts';

/** Longest foreign text repeated in a sentence, in characters. */
const maxRepeated = 300;

/** Reasons for which only the user can go on. */
const userReasons = new Set(['authorization_denied', 'login_timed_out', 'login_required']);

/** Reasons that lie in what was given on the command line. */
const usageReasons = new Set(['bad_key', 'callback_port_unusable', 'unknown_store']);

/** Codes of Node for a server that is not there, or not heard. */
const networkCodes = /^(E(CONN|HOST|NET|AI_|NOTFOUND|TIMEDOUT)|UND_ERR_)/;

/** What helps against some failures. */
const hints: Partial<Record<ClientError['reason'], string>> = {
  foreign_endpoint: 'To allow it: --allow-origin <origin>',
  callback_port_unusable: 'To choose another one: --callback-port <port>; without it a free one is taken',
  registration_refused:
    'To give an initial access token: --initial-access-token-file <file>; to give a client id: --client-id <id>',
  no_registration: 'To give a client id: --client-id <id>',
  authorization_server_changed: 'To give a client id: --client-id <id>',
};

/** What helps where a server names another authorization server than `--issuer`. */
const hintAtMove =
  'Where you know that it has moved there: leave --issuer out, and --no-resource, which the one before needed';

/** How a machine shows who it is. Only whoever runs it knows where the file is. */
const proofOptions: Record<MachineLogin['proof'], string> = {
  secret: '--client-secret-file <file>',
  key: '--private-key <file>',
  assertion: '--assertion-file <file>',
};

/**
 * The command that logs in to a server, as a person would type it. What is good for one authorization server alone, such
 * as a token without audience, is asked of that one alone (A7-01, T-184).
 * @param scopes what to ask for; what the server names where there are none
 * @param before the login that is to be made again: whose it was, and what was chosen at it
 */
export function loginCommand(
  url: string,
  scopes: readonly string[] = [],
  { issuer, machine, chosen = {} }: FormerLogin = {},
): string {
  const scope = scopes.length === 0 ? '' : ` --scope ${shellWord(scopes.join(' '))}`;
  const isBound = machine !== undefined || chosen.withoutResource === true;
  const at = isBound && issuer !== undefined ? ` --issuer ${shellWord(issuer)}` : '';
  const as =
    machine === undefined
      ? ''
      : ` --grant ${machine.grant} --client-id ${shellWord(machine.clientId)} ${proofOptions[machine.proof]}`;
  const how = `${chosen.dpop ? ' --dpop' : ''}${chosen.withoutResource ? ' --no-resource' : ''}`;
  return `Run: ${programName} login ${shellWord(url)}${scope}${how}${as}${at}`;
}

/**
 * Requires the URL argument of a command.
 * @throws CliError exit code 2
 */
export function requireServerUrl(url: string): string {
  try {
    return requireUrl(URL.parse(url)?.href ?? url, 'The URL').href;
  } catch (error) {
    throw new CliError(
      error instanceof Error ? printableLine(error.message) : 'No URL.',
      exitCodes.usage,
      hintAtScheme(url),
    );
  }
}

/** @returns an error, what it was caused by, and so on */
export function causes(error: unknown): Error[] {
  const found: Error[] = [];
  let current = error;
  while (current instanceof Error && !found.includes(current)) {
    found.push(current);
    current = current.cause;
  }
  return found;
}

/**
 * Says what a failure of the client means at the command line. The MCP SDK wraps what a fetch rejects with; the first
 * failure of ours in the chain counts.
 * @param error what a client function or the MCP SDK threw
 * @param url the server as the user named it
 * @returns the sentence with its exit code, whose cause it is; other errors are given back as they are
 */
export function explainFailure(error: unknown, url: string): unknown {
  if (error instanceof CliError) return error;
  const explained = explain(error, url);
  if (explained instanceof CliError) explained.cause = error;
  return explained;
}

function explain(error: unknown, url: string): unknown {
  const chain = causes(error);
  const sentence = (text: string): string => printableLine(text).slice(0, maxRepeated * 2);
  const ours = chain.find((cause) => cause instanceof ClientError);
  if (ours instanceof LoginRequiredError)
    return new CliError(sentence(ours.message), exitCodes.loginNeeded, loginCommand(url, [], ours.before));
  if (ours instanceof InsufficientScopeError)
    return new CliError(sentence(ours.message), exitCodes.scopeMissing, hintAtScope(ours, url));
  if (ours instanceof ClientError)
    return new CliError(sentence(ours.message), exitCodeOf(ours.reason), hintAt(ours, url));
  const shown = (start: string, { message }: Error): CliError =>
    new CliError(`${start}: ${printableLine(message).slice(0, maxRepeated)}`, exitCodes.unreachable);
  if (error instanceof ProtocolError) return shown('The server answered with an error', error);
  const unreachable = chain.find((cause) => networkCodes.test(String((cause as { code?: unknown }).code)));
  if (unreachable) return shown(`${url} cannot be reached`, unreachable);
  const late = chain.find((cause) => cause instanceof SdkError && cause.code === SdkErrorCode.RequestTimeout);
  if (late instanceof SdkError) return tooLate(late);
  if (error instanceof SdkError) return shown('The server cannot be used', error);
  return error;
}

/** A server that did not answer a request within the time the SDK was given, which it tells in milliseconds. */
function tooLate({ data }: SdkError): CliError {
  const { timeout } = Object(data) as { timeout?: unknown };
  const within = typeof timeout === 'number' ? `within ${timeout / 1000} s` : 'in time';
  return new CliError(
    `The server did not answer ${within}.`,
    exitCodes.unreachable,
    'To wait longer: --timeout <seconds>',
  );
}

/** A person can allow more at the next login; a machine gets no more than its client has. */
function hintAtScope({ union, before }: InsufficientScopeError, url: string): string {
  const again = loginCommand(url, union, before);
  return before.machine === undefined
    ? again
    : `${again}\nWhere that does not give it: the operator of the server has to allow the client ${shellWord(before.machine.clientId)} this scope first`;
}

/** What discovery stopped at lies in the server or on the way to it, and the doctor looks at both. */
function hintAt(error: ClientError, url: string): string | undefined {
  const isDiscovery = error instanceof DiscoveryError;
  // What an endpoint answers to a registration and a code shows only if the doctor may ask for them.
  const isOfEndpoint = error.reason === 'token_refused' || error.reason === 'redirected';
  const flag = isDiscovery ? '' : '--active ';
  if (isDiscovery && error.reason === 'authorization_server_changed') return hintAtMove;
  return (
    hints[error.reason] ??
    (isDiscovery || isOfEndpoint
      ? `To see what is wrong there: ${programName} doctor ${flag}${shellWord(url)}`
      : undefined)
  );
}

function exitCodeOf(reason: ClientError['reason']): ExitCode {
  if (userReasons.has(reason)) return exitCodes.loginNeeded;
  if (usageReasons.has(reason)) return exitCodes.usage;
  if (reason === 'store_unusable') return exitCodes.cannotServe;
  return exitCodes.unreachable;
}

/** A host, with or without a port and a path, and no scheme before it; one without a dot needs the port. */
const schemeless = /^(?:localhost|\[[\da-f:]+\]|[\w-]+(?:\.[\w-]+)+|[\w-]+(?=:\d))(?::\d+)?(?:\/|$)/i;

/** Hosts where plain http is usual: this machine, and names of a private network. */
const near = /^(?:localhost|127(?:\.\d+){3}|\[::1\]|[\w-]+(?=:\d))(?=[:/]|$)/i;

/** @returns what to try where the scheme was left out of a URL; undefined where that is not what is wrong */
export function hintAtScheme(url: string): string | undefined {
  if (!schemeless.test(url)) return undefined;
  return `Did you mean ${near.test(url) ? 'http' : 'https'}://${url}?`;
}
