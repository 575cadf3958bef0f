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
import { shellWord } from '../../../client/quote.ts';
import { CliError, type ExitCode, exitCodes } from '../../cli-error.ts';
import { printableLine, programName } from '../../output.ts';

/** Maximum length of a server's text in a sentence, in characters. */
const maxRepeated = 300;

/** Reasons that only the user can resolve. */
const userReasons = new Set(['authorization_denied', 'login_timed_out', 'login_required']);

/** Reasons in the arguments of the command line. */
const usageReasons = new Set(['bad_key', 'callback_port_unusable', 'unknown_store']);

/** Node's error codes for a server that cannot be reached. */
const networkCodes = /^(E(CONN|HOST|NET|AI_|NOTFOUND|TIMEDOUT)|UND_ERR_)/;

/** Hints for some failures. */
const hints: Partial<Record<ClientError['reason'], string>> = {
  foreign_endpoint: 'To allow it: --allow-origin <origin>',
  callback_port_unusable: 'To choose another one: --callback-port <port>; without it a free port is used',
  registration_refused:
    'To give an initial access token: --initial-access-token-file <file>; to give a client id: --client-id <id>',
  no_registration: 'To give a client id: --client-id <id>',
  authorization_server_changed: 'To give a client id: --client-id <id>',
};

/** Hint for a server that names another authorization server than `--issuer`. */
const hintAtMove =
  'If you know that it has moved there: leave out --issuer, and --no-resource, which the former server needed';

/** Options by which a machine authenticates. Only its user knows the file. */
const proofOptions: Record<MachineLogin['proof'], string> = {
  secret: '--client-secret-file <file>',
  key: '--private-key <file>',
  assertion: '--assertion-file <file>',
};

/**
 * Returns the command that logs in to a server. Whatever is safe at one authorization server only, such as a token without
 * audience, is requested only there (A7-01, T-184).
 * @param scopes scopes to request; the server's scopes if empty
 * @param before the former login, with its options
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

/** Returns an error and the chain of its causes. */
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
 * Maps an error of the client to a sentence and an exit code. The MCP SDK wraps errors of fetch; the first error of
 * Gatehouse in the chain counts.
 * @param error an error of a client function or the MCP SDK
 * @param url the server as the user named it
 * @returns a CliError with the error as its cause; other errors unchanged
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
  if (error instanceof ProtocolError) return shown('The server returned an error', error);
  const unreachable = chain.find((cause) => networkCodes.test(String((cause as { code?: unknown }).code)));
  if (unreachable) return shown(`${url} cannot be reached`, unreachable);
  const late = chain.find((cause) => cause instanceof SdkError && cause.code === SdkErrorCode.RequestTimeout);
  if (late instanceof SdkError) return tooLate(late);
  if (error instanceof SdkError) return shown('The server cannot be used', error);
  return error;
}

/** Creates the error for a request that timed out; the SDK reports the timeout in milliseconds. */
function tooLate({ data }: SdkError): CliError {
  const { timeout } = Object(data) as { timeout?: unknown };
  const within = typeof timeout === 'number' ? `within ${timeout / 1000} s` : 'in time';
  return new CliError(
    `The server did not answer ${within}.`,
    exitCodes.unreachable,
    'To wait longer: --timeout <seconds>',
  );
}

/** A user can allow more at the next login; a machine cannot get more than its client has. */
function hintAtScope({ union, before }: InsufficientScopeError, url: string): string {
  const again = loginCommand(url, union, before);
  return before.machine === undefined
    ? again
    : `${again}\nIf that does not help: the operator of the server must first allow the client ${shellWord(before.machine.clientId)} this scope`;
}

/** Discovery fails because of the server or the network, and the doctor examines both. */
function hintAt(error: ClientError, url: string): string | undefined {
  const isDiscovery = error instanceof DiscoveryError;
  // The doctor sees how an endpoint responds to a registration and a code only with `--active`.
  const isOfEndpoint = error.reason === 'token_refused' || error.reason === 'redirected';
  const flag = isDiscovery ? '' : '--active ';
  if (isDiscovery && error.reason === 'authorization_server_changed') return hintAtMove;
  return (
    hints[error.reason] ??
    (isDiscovery || isOfEndpoint
      ? `To see what is wrong: ${programName} doctor ${flag}${shellWord(url)}`
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

/** Hosts with plain http: this machine, and names of a private network. */
const near = /^(?:localhost|127(?:\.\d+){3}|\[::1\]|[\w-]+(?=:\d))(?=[:/]|$)/i;

/** Suggests a URL if the scheme is missing; undefined if that is not the problem. */
export function hintAtScheme(url: string): string | undefined {
  if (!schemeless.test(url)) return undefined;
  return `Did you mean ${near.test(url) ? 'http' : 'https'}://${url}?`;
}
