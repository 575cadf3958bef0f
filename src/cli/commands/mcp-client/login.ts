import { hostname } from 'node:os';
import type { Command } from 'commander';
import {
  type ClientContext,
  type Credential,
  type DiscoveredServer,
  discover,
} from '../../../client/index.ts';
import { login, openTokenFile, readSurroundings, type TokenFile } from '../../../client/node/index.ts';
import { CliError } from '../../cli-error.ts';
import {
  type CommandIo,
  formatJson,
  isTerminal,
  printableLine,
  processIo,
  programName,
} from '../../output.ts';
import { explainFailure, requireServerUrl } from './client-failure.ts';
import { hintAtLogin, warnOfScopes } from './login-hint.ts';
import { addLoginOptions, type LoginCommandOptions } from './login-options.ts';
import {
  chooseLoginWay,
  describeIssuer,
  type LoginWay,
  pasteTerminal,
  tellProgress,
} from './login-person.ts';
import { loginMachine, readGivenClient, readInvitation, refuseMachineOptions } from './login-secrets.ts';
import { describeStore, summarizeLogin, ungrantedScopes } from './login-text.ts';
import { tellSlips, withTrace } from './trace.ts';

/** A running login. */
interface LoginRun {
  server: string;
  options: LoginCommandOptions;
  io: CommandIo;
  store: TokenFile;
  say: (line: string) => void;
  /** The discovered server, once it is found. */
  found?: DiscoveredServer;
}

/** Returns the same error with another hint. */
function withHint(failure: CliError, hint: string): CliError {
  const hinted = new CliError(failure.message, failure.exitCode, hint);
  hinted.cause = failure;
  return hinted;
}

const wantedScopes = ({ scope }: LoginCommandOptions): string[] | undefined =>
  scope?.split(' ').filter((one) => one !== '');

/** The name on the consent page: a person with several machines sees which one asks. @param host name of this machine */
export function clientName(host: string): string {
  const shown = host.replace(/[^\w.-]/g, '').slice(0, 60);
  return shown === '' ? 'Gatehouse CLI' : `Gatehouse CLI on ${shown}`;
}

const asking = (server: string): string => `Asking ${server} how to log in`;

/**
 * Chooses how the user logs in. If there is no user, a problem of the server is reported first, because then no other way to
 * log in would help.
 */
async function wayToPerson(
  { server, options, io, say }: LoginRun,
  context: ClientContext,
): Promise<LoginWay> {
  try {
    return chooseLoginWay(options, readSurroundings(io.env), isTerminal(io.stdin));
  } catch (nobody) {
    say(asking(server));
    await discover(context, server, { allowedEndpointOrigins: options.allowOrigin, withoutCode: true });
    throw nobody;
  }
}

async function logIn(run: LoginRun): Promise<{ found: DiscoveredServer; credential: Credential }> {
  const { server, options, io, store, say } = run;
  refuseMachineOptions(options);
  const context: ClientContext = {
    fetch: withTrace(io, options.trace).fetch,
    now: io.now,
    tolerated: tellSlips(io, options.trace),
  };
  const way = options.grant === undefined ? await wayToPerson(run, context) : undefined;
  const client = await readGivenClient(options, io);
  const initialAccessToken = await readInvitation(options, io);
  const scopes = wantedScopes(options);
  say(asking(server));
  if (way === undefined) {
    const made = await loginMachine(context, server, options, { store, client, scopes });
    say(describeIssuer(made.found));
    return made;
  }
  const progress = tellProgress(way, readSurroundings(io.env).place, say, io);
  const wanted = {
    store,
    given: client,
    scopes,
    issuer: options.issuer,
    clientIdMetadataUrl: options.clientMetadataUrl,
    initialAccessToken,
    clientName: clientName(hostname()),
    allowedEndpointOrigins: options.allowOrigin,
    withoutResource: options.resource === false,
    dpop: options.dpop,
    device: way.device,
    paste: way.paste ? pasteTerminal(io, say) : undefined,
    callbackPort: options.callbackPort,
    timeoutMs: options.timeout === undefined ? undefined : options.timeout * 1000,
  };
  return login(context, server, wanted, {
    ...progress,
    discovered: (found) => {
      run.found = found;
      progress.discovered?.(found);
      const warning = warnOfScopes(found, scopes);
      if (warning !== undefined) say(warning);
    },
  });
}

/**
 * Runs `gatehouse login`: logs in to an MCP server and stores the tokens. Progress goes to standard error; no secret is an
 * argument or printed (T-191).
 * @param url URL of the MCP server
 * @throws CliError
 */
export async function runLogin(url: string, options: LoginCommandOptions, io: CommandIo): Promise<void> {
  const server = requireServerUrl(url);
  const say = (line: string): void => {
    io.stderr.write(`${printableLine(line)}\n`);
  };
  let run: LoginRun | undefined;
  try {
    const store = openTokenFile(io.env, options.store);
    run = { server, options, io, store, say };
    const { found, credential } = await logIn(run);
    const state = await store.describe();
    say(`Logged in to ${found.server}${credential.scopes ? ` with: ${credential.scopes.join(' ')}` : ''}`);
    const notGranted = ungrantedScopes(wantedScopes(options), credential);
    if (notGranted.length > 0) say(`Requested, but not granted: ${notGranted.join(' ')}`);
    say(describeStore(state));
    if (options.json) io.stdout.write(formatJson(summarizeLogin(found, credential, state, notGranted)));
  } catch (error) {
    const failure = explainFailure(error, url);
    const hint = await hintAtLogin(error, server, run?.found, io.fetch);
    throw failure instanceof CliError && hint !== undefined
      ? withHint(failure, printableLine(hint))
      : failure;
  }
}

const examples = `
Examples:
  ${programName} login https://mcp.example.com/mcp                      with your browser
  ${programName} login https://mcp.example.com/mcp --scope "notes:read"
  ${programName} login https://mcp.example.com/mcp --device             with a code, on any other device
  ${programName} login https://mcp.example.com/mcp --grant client_credentials \\
    --client-id ci --client-secret-stdin < secret.txt                   a pipeline as itself

Over SSH, or if no browser can be opened, it shows a code to enter on another device, if the server supports
that; otherwise paste the final address of your browser into the terminal. Without terminal and browser it
ends with exit code 3.`;

/** Adds `gatehouse login`. */
export function registerLogin(program: Command, io: CommandIo = processIo()): void {
  const command = program
    .command('login')
    .description('log in to an MCP server, and store the login')
    .argument('<url>', 'URL of the MCP server');
  addLoginOptions(command).addHelpText('after', examples);
  command.action((url: string, options: LoginCommandOptions) => runLogin(url, options, io));
}
