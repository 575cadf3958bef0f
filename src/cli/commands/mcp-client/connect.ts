import type { Readable, Writable } from 'node:stream';
import type { Command } from 'commander';
import {
  type AuthorizationNeed,
  type Authorizer,
  type ClientContext,
  ClientError,
  type CredentialStore,
  type Fetch,
  type FormerLogin,
  InsufficientScopeError,
  LoginRequiredError,
  withAuthorization,
} from '../../../client/index.ts';
import {
  login,
  openBridge,
  patientFetch,
  readSurroundings,
  type Surroundings,
} from '../../../client/node/index.ts';
import { shellWord } from '../../../client/quote.ts';
import { CliError } from '../../cli-error.ts';
import { type CommandIo, printableLine, processIo, programName } from '../../output.ts';
import { loginCommand, requireServerUrl } from './client-failure.ts';
import { headerOption, readGivenHeaders, traceOption, withHeaders } from './connection-options.ts';
import { chooseLoginWay, type LoginWay, tellProgress } from './login-person.ts';
import { openLogins } from './stored-login.ts';
import { withTrace } from './trace.ts';

/** Options of `gatehouse connect`, as commander parses them. */
export interface ConnectOptions {
  header?: string[];
  trace?: boolean;
  /** False: never start a login. */
  login?: boolean;
  /** False: open no browser. */
  browser?: boolean;
}

/** Streams of a host, and the surroundings of the command. */
export interface ConnectIo extends CommandIo {
  stdin: Readable;
  stdout: Writable & CommandIo['stdout'];
}

/** Maximum time that the process stays alive after the host is gone, in milliseconds. */
const leftOverMs = 500;

/**
 * Returns how the user logs in. They cannot type, because standard input belongs to the host.
 * @throws LoginRequiredError if the user has to log in at a terminal
 */
function wayToPerson(
  url: string,
  before: FormerLogin | undefined,
  { browser }: ConnectOptions,
  surroundings: Surroundings,
): LoginWay {
  try {
    return chooseLoginWay({ browser }, surroundings, false);
  } catch (error) {
    throw error instanceof CliError ? new LoginRequiredError(url, error.message, before) : error;
  }
}

/** Logs the user in again, with the options of the former login. */
function personAuthorizer(
  context: ClientContext,
  url: string,
  store: CredentialStore,
  options: ConnectOptions,
  io: CommandIo,
  say: (line: string) => void,
): Authorizer {
  return async (need) => {
    const { why, scopes, before } = need;
    if (before?.machine !== undefined) throw machineNeeded(url, need);
    const surroundings = readSurroundings(io.env);
    const way = wayToPerson(url, before, options, surroundings);
    say(
      why === 'insufficient_scope'
        ? 'The server requires more scopes than the login has'
        : `Logging in to ${url}`,
    );
    const progress = tellProgress(way, surroundings.place, say, io);
    try {
      const { credential } = await login(context, url, { store, scopes, before }, progress);
      say('Logged in');
      return credential;
    } catch (error) {
      throw before?.chosen?.dpop ? withWayOutOfDpop(error, url) : error;
    }
  };
}

/** A user never replaces a machine: actions of the machine would be done in the name of the user. */
function machineNeeded(url: string, { why, scopes = [], before }: AuthorizationNeed): ClientError {
  return why === 'insufficient_scope'
    ? new InsufficientScopeError(url, { required: scopes, missing: [], union: scopes }, before)
    : new LoginRequiredError(url, 'The login of a machine has ended.', before);
}

/** Adds a hint: the user may not know that the former login was bound to a key. */
function withWayOutOfDpop(error: unknown, url: string): unknown {
  if (!(error instanceof ClientError) || error.reason !== 'token_refused') return error;
  return new ClientError(
    error.reason,
    `${error.message} The former login was bound to a key. To log in without a key: ${programName} login ${shellWord(url)}`,
    { cause: error },
  );
}

/** Adds the login command to errors, for readers of a host's log. */
function withAdvice(fetch: Fetch, url: string): Fetch {
  return async (to, init) => {
    try {
      return await fetch(to, init);
    } catch (error) {
      if (error instanceof LoginRequiredError)
        throw new LoginRequiredError(
          error.server,
          `${error.message} ${loginCommand(url, [], error.before)}`,
          error.before,
        );
      if (error instanceof InsufficientScopeError)
        throw new ClientError(
          error.reason,
          `${error.message} ${loginCommand(url, error.union, error.before)}`,
        );
      throw error;
    }
  };
}

/**
 * Returns the fetch functions of a bridge: they wait for a server that restarts, add headers and the login, and log in if
 * needed.
 */
function bridgeFetches(
  url: string,
  options: ConnectOptions,
  io: CommandIo,
  say: (line: string) => void,
): { fetch: Fetch; eventStreamFetch?: Fetch } {
  const headers = readGivenHeaders(options.header ?? [], io.env);
  const fetch = withHeaders(patientFetch(withTrace(io, options.trace).fetch), url, headers);
  if (headers.has('authorization')) return { fetch };
  const context = { fetch, now: io.now };
  const store = openLogins(io);
  const authorizer =
    options.login === false ? undefined : personAuthorizer(context, url, store, options, io, say);
  return {
    fetch: withAdvice(withAuthorization(context, url, store, { authorizer }), url),
    eventStreamFetch: withAdvice(
      withAuthorization(context, url, store, { authorizer, wholeOrigin: true }),
      url,
    ),
  };
}

/**
 * Runs `gatehouse connect`: connects a host that speaks only stdio to an MCP server over HTTP, with a login. Standard output
 * carries only the protocol.
 * @param url URL of the MCP server
 * @param io the host's streams, and the surroundings
 * @returns resolves when the host is gone; `close` ends it before
 * @throws CliError
 * @see MCP transports "stdio" (B1-02, B1-03)
 */
export function runConnect(
  url: string,
  options: ConnectOptions,
  io: ConnectIo,
): { ended: Promise<void>; close(): Promise<void> } {
  const server = requireServerUrl(url);
  const say = (line: string): void => void io.stderr.write(`${printableLine(line)}\n`);

  return openBridge({
    url: server,
    ...bridgeFetches(server, options, io, say),
    stdin: io.stdin,
    stdout: io.stdout,
    say,
  });
}

async function connectProcess(url: string, options: ConnectOptions): Promise<void> {
  const { stdin, stdout } = process;
  const bridge = runConnect(url, options, { ...processIo(), stdin, stdout });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void bridge.close());
  await bridge.ended;
  stdin.destroy();
  setTimeout(() => process.exit(), leftOverMs).unref();
}

/** Adds `gatehouse connect`. */
export function registerConnect(program: Command): void {
  program
    .command('connect')
    .description('bridge a host that speaks only stdio to an MCP server, with your login')
    .argument('<url>', 'URL of the MCP server')
    .option('--no-login', 'never start a login: fail if one is needed')
    .option('--no-browser', 'only print the URL to open, on standard error')
    .option(...headerOption)
    .option(...traceOption)
    .addHelpText(
      'after',
      `\nIn the configuration of a host:\n  "command": "npx", "args": ["mcp-gatehouse", "connect", "https://mcp.example.com/mcp"]`,
    )
    .action((url: string, options: ConnectOptions) => connectProcess(url, options));
}
