import {
  type ClientContext,
  type CredentialStore,
  type GivenClient,
  type GrantLogin,
  loginWithClientCredentials,
  loginWithWorkloadIdentity,
} from '../../client/index.ts';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { readSecretFile } from './login-client.ts';
import type { LoginCommandOptions } from './login-options.ts';

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
 * Refuses an option that only a machine's login heeds: whoever gives it would trust in vain that it is a person's.
 * @throws CliError exit code 2
 */
export function refuseMachineOptions({ grant, assertionFile }: LoginCommandOptions): void {
  if (grant !== undefined || assertionFile === undefined) return;
  throw new CliError('--assertion-file needs --grant.', exitCodes.usage);
}

/**
 * Logs a machine in as itself, with the grant of `--grant`.
 * @param context fetch and clock
 * @param url URL of the MCP server
 * @param options what was given on the command line
 * @param login where it is kept, what to ask for, and as whom
 * @throws CliError exit code 2 where an option is missing; ClientError
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
