import { readFile } from 'node:fs/promises';
import {
  type ClientContext,
  type CredentialStore,
  type GivenClient,
  type GrantLogin,
  loginWithClientCredentials,
  loginWithWorkloadIdentity,
  readPrivateKey,
} from '../../../client/index.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import type { CommandIo } from '../../output.ts';
import type { LoginCommandOptions } from './login-options.ts';

/** Longest secret, key or assertion read, in characters. */
const maxSecretLength = 16 * 1024;

function usage(message: string, hint?: string): CliError {
  return new CliError(message, exitCodes.usage, hint);
}

/**
 * Reads a secret from standard input, to its end. No message contains it.
 * @param what name of the secret, for messages
 * @throws CliError exit code 2
 */
async function readStdinSecret({ stdin }: CommandIo, what: string): Promise<string> {
  let text = '';
  for await (const chunk of stdin) {
    text += String(chunk);
    if (text.length > maxSecretLength) throw usage(`Standard input is too long for ${what}.`);
  }
  const secret = text.replace(/\r?\n$/, '');
  if (secret === '') throw usage(`Standard input does not hold ${what}.`);
  return secret;
}

/**
 * Reads a file with a secret. No message contains its content.
 * @param file its path
 * @param what name of the secret, for messages
 * @throws CliError exit code 2
 */
export async function readSecretFile(file: string, what: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw usage(`The file with ${what} cannot be read: ${error.code ?? 'it is no file'}.`);
  });
  const content = text.replace(/\r?\n$/, '');
  if (content === '' || content.length > maxSecretLength)
    throw usage(`The file with ${what} is ${content === '' ? 'empty' : 'too long'}.`);
  return content;
}

/**
 * Reads the client that was registered beforehand: its secret from standard input or a file, its key from a file.
 * @returns undefined without `--client-id`
 * @throws CliError exit code 2; ClientError `bad_key`
 * @see RFC 6749 section 2.3; RFC 7523 section 2.2 (A5-11, T-191)
 */
export async function readGivenClient(
  { clientId, clientSecretStdin, clientSecretFile, privateKey }: LoginCommandOptions,
  io: CommandIo,
): Promise<GivenClient | undefined> {
  const proofs = [
    ['--client-secret-stdin', clientSecretStdin],
    ['--client-secret-file', clientSecretFile],
    ['--private-key', privateKey],
  ].filter(([, value]) => value !== undefined);
  const [[proof] = []] = proofs;
  if (proofs.length > 1)
    throw usage(`One of ${proofs.map(([name]) => name).join(' and ')} is enough: leave the others out.`);
  if (clientId === undefined) {
    if (proof !== undefined) throw usage(`${proof} needs --client-id.`);
    return undefined;
  }
  if (clientSecretStdin) return { clientId, clientSecret: await readStdinSecret(io, 'the client secret') };
  if (clientSecretFile !== undefined)
    return { clientId, clientSecret: await readSecretFile(clientSecretFile, 'the client secret') };
  if (privateKey !== undefined)
    return {
      clientId,
      privateKey: await readPrivateKey(await readSecretFile(privateKey, 'the private key')),
    };
  return { clientId };
}

/**
 * Reads the initial access token of `--initial-access-token-file`, from a file or, for `-`, standard input. No message
 * contains it.
 * @returns undefined without that option
 * @throws CliError exit code 2, also if no client would be registered
 * @see RFC 7591 section 3 (A5-02, T-191)
 */
export async function readInvitation(
  { initialAccessTokenFile: file, clientId, grant, paste }: LoginCommandOptions,
  io: CommandIo,
): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const usage = (message: string): CliError => new CliError(message, exitCodes.usage);
  if (clientId !== undefined || grant !== undefined)
    throw usage('--initial-access-token-file is for registering: leave --client-id and --grant out.');
  if (file === '-' && paste)
    throw usage('Standard input cannot hold both the initial access token and the pasted address.');
  const what = 'the initial access token';
  const token = file === '-' ? await readStdinSecret(io, what) : await readSecretFile(file, what);
  if (!/^[\w.~+/-]+=*$/.test(token)) throw usage('The initial access token is not well-formed.');
  return token;
}

function requireOptions(options: LoginCommandOptions, client: GivenClient | undefined): GivenClient {
  const { grant, assertionFile } = options;
  const missing = (what: string): CliError =>
    new CliError(`--grant ${grant} needs ${what}.`, exitCodes.usage);
  if (client === undefined) throw missing('--client-id');
  const hasProof = client.clientSecret !== undefined || client.privateKey !== undefined;
  if (grant === 'client_credentials' && !hasProof)
    throw missing('--client-secret-stdin, --client-secret-file or --private-key');
  if (grant === 'workload_identity' && assertionFile === undefined) throw missing('--assertion-file');
  return client;
}

/**
 * Rejects an option that only works for a machine login, because without `--grant` it would be ignored.
 * @throws CliError exit code 2
 */
export function refuseMachineOptions({ grant, assertionFile }: LoginCommandOptions): void {
  if (grant !== undefined || assertionFile === undefined) return;
  throw new CliError('--assertion-file needs --grant.', exitCodes.usage);
}

/**
 * Logs in a machine, with the grant type of `--grant`.
 * @param context fetch and clock
 * @param url URL of the MCP server
 * @param login store, client and scopes
 * @throws CliError exit code 2 if an option is missing; ClientError
 * @see RFC 6749 section 4.4; RFC 7523 (A13-02, A13-10)
 */
export async function loginMachine(
  context: ClientContext,
  url: string,
  options: LoginCommandOptions,
  login: { store: CredentialStore; client: GivenClient | undefined; scopes: readonly string[] | undefined },
): Promise<GrantLogin> {
  const { store, scopes } = login;
  const { issuer, dpop, allowOrigin: allowedEndpointOrigins, grant, assertionFile = '' } = options;
  const { clientId, clientSecret, privateKey } = requireOptions(options, login.client);
  const withoutResource = options.resource === false;
  const wanted = { store, scopes, issuer, dpop, allowedEndpointOrigins, withoutResource };
  if (grant === 'workload_identity') {
    const assertion = (): Promise<string> => readSecretFile(assertionFile, 'the assertion');
    return loginWithWorkloadIdentity(context, url, { ...wanted, clientId, assertion });
  }
  const client = {
    clientId,
    ...(clientSecret === undefined ? {} : { clientSecret }),
    ...(privateKey === undefined ? {} : { privateKey }),
  };
  return loginWithClientCredentials(context, url, { ...wanted, client });
}
