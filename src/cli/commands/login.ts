import { type Command, InvalidArgumentError } from 'commander';
import type { Credential, DiscoveredServer } from '../../client/index.ts';
import {
  createTokenFile,
  gatehouseHome,
  login,
  openBrowser,
  tokenFilePath,
} from '../../client/node/index.ts';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { type CommandIo, formatJson, printableLine, processIo } from '../output.ts';
import { programName } from '../program-name.ts';
import { explainFailure, requireServerUrl } from './client-failure.ts';

/** Options of `gatehouse login`, as commander gives them. */
export interface LoginCommandOptions {
  clientId?: string;
  clientSecretStdin?: boolean;
  scope?: string;
  browser?: boolean;
  allowOrigin?: string[];
  json?: boolean;
}

/** Longest client secret read from standard input, in characters. */
const maxSecretLength = 4096;

const models: Record<DiscoveredServer['model'], string> = {
  protected_resource: 'named by the metadata of the server',
  origin_metadata: 'found at the origin of the server',
  default_endpoints: 'assumed at the default paths of the server, which publishes no metadata',
};

async function readSecret(io: CommandIo): Promise<string> {
  let text = '';
  for await (const chunk of io.stdin) {
    text += String(chunk);
    if (text.length > maxSecretLength) throw new CliError('The client secret is too long.', exitCodes.usage);
  }
  const secret = text.replace(/\r?\n$/, '');
  if (secret === '') throw new CliError('Standard input holds no client secret.', exitCodes.usage);
  return secret;
}

async function given(
  options: LoginCommandOptions,
  io: CommandIo,
): Promise<{ clientId: string; clientSecret?: string } | undefined> {
  const { clientId, clientSecretStdin } = options;
  if (clientId === undefined) {
    if (!clientSecretStdin) return undefined;
    throw new CliError('--client-secret-stdin needs --client-id.', exitCodes.usage);
  }
  return clientSecretStdin ? { clientId, clientSecret: await readSecret(io) } : { clientId };
}

function summary(found: DiscoveredServer, credential: Credential, file: string): Record<string, unknown> {
  return {
    server: found.server,
    issuer: found.authorizationServer.issuer,
    resource: found.resource,
    scopes: credential.scopes ?? null,
    expiresAt: credential.expiresAt ?? null,
    renewable: credential.refreshToken !== undefined,
    tokenFile: file,
  };
}

/**
 * `gatehouse login`: logs in to an MCP server with the user's browser and keeps the tokens. Progress goes to standard
 * error; no secret is ever an argument or written out (T-191).
 * @param url URL of the MCP server
 * @param options what was given on the command line
 * @param io the surroundings
 * @throws CliError
 */
export async function runLogin(url: string, options: LoginCommandOptions, io: CommandIo): Promise<void> {
  const server = requireServerUrl(url);
  const client = await given(options, io);
  const say = (line: string): void => {
    io.stderr.write(`${printableLine(line)}\n`);
  };
  const folder = gatehouseHome(io.env);
  const store = createTokenFile(folder);
  say(`Asking ${server} how to log in`);
  try {
    const { found, credential } = await login(
      { fetch: io.fetch, now: io.now },
      server,
      {
        store,
        given: client,
        scopes:
          options.scope === undefined ? undefined : options.scope.split(' ').filter((one) => one !== ''),
        allowedEndpointOrigins: options.allowOrigin,
      },
      {
        discovered: ({ authorizationServer, model }) =>
          say(`Authorization server: ${authorizationServer.issuer} (${models[model]})`),
        registered: (registration, how) =>
          say(how === 'new' ? 'Registered as a new client' : `Client: ${registration.clientId} (${how})`),
        open: async (authorizationUrl) => {
          say(`Open this URL: ${authorizationUrl}`);
          if (options.browser !== false && !(await openBrowser(authorizationUrl, io.env)))
            say('No browser could be started. Open the URL yourself, on this machine.');
          say('Waiting for the browser');
        },
      },
    );
    const file = tokenFilePath(folder);
    say(`Logged in to ${found.server}${credential.scopes ? ` with: ${credential.scopes.join(' ')}` : ''}`);
    say(`The login is kept in ${file}`);
    if (options.json) io.stdout.write(formatJson(summary(found, credential, file)));
  } catch (error) {
    throw explainFailure(error, url);
  }
}

function parseScopeOption(value: string): string {
  if (!/^[\x21\x23-\x5B\x5D-\x7E ]+$/.test(value))
    throw new InvalidArgumentError('Scopes are words separated by spaces.');
  return value;
}

function parseOriginOption(value: string, earlier: string[] = []): string[] {
  const url = URL.parse(value);
  if (url?.origin !== value) throw new InvalidArgumentError('An origin looks like https://login.example.com');
  return [...earlier, value];
}

/**
 * Adds `gatehouse login`.
 * @param program the command line
 * @param io the surroundings
 */
export function registerLogin(program: Command, io: CommandIo = processIo()): void {
  program
    .command('login')
    .description('log in to an MCP server with your browser')
    .argument('<url>', 'URL of the MCP server')
    .option('--client-id <id>', 'use this client id instead of registering')
    .option('--client-secret-stdin', 'read the secret of that client from standard input')
    .option('--scope <scopes>', 'ask for these scopes, separated by spaces', parseScopeOption)
    .option('--no-browser', 'only print the URL to open')
    .option(
      '--allow-origin <origin>',
      'accept token endpoints on this origin too (repeatable)',
      parseOriginOption,
    )
    .option('--json', 'print what was logged in to as JSON')
    .addHelpText('after', `\nExample:\n  ${programName} login http://localhost:3000/mcp --scope "notes:read"`)
    .action((url: string, options: LoginCommandOptions) => runLogin(url, options, io));
}
