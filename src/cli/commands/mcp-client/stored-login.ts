import { canonicalServerUrl, LoginRequiredError } from '../../../client/index.ts';
import { type KeptLogin, openTokenFile, type Sealing, type TokenFile } from '../../../client/node/index.ts';
import type { CommandIo } from '../../output.ts';
import { explainFailure, requireServerUrl } from './client-failure.ts';

/**
 * Opens the stored logins of this user, see `openTokenFile`.
 * @param chosen how they are stored; takes precedence over `$GATEHOUSE_STORE`
 * @throws CliError exit code 2 if `$GATEHOUSE_STORE` is not valid
 */
export function openLogins({ env }: CommandIo, chosen?: Sealing): TokenFile {
  try {
    return openTokenFile(env, chosen);
  } catch (error) {
    throw explainFailure(error, '');
  }
}

/**
 * @param url URL of the MCP server, as given on the command line
 * @returns the URL under which its login is stored
 * @throws CliError exit code 2 if it is not a URL
 */
export function keptServer(url: string): string {
  return canonicalServerUrl(requireServerUrl(url));
}

/**
 * Looks up the stored login for a server.
 * @param store the stored logins
 * @param url URL of the MCP server, as given on the command line
 * @returns undefined if there is none
 * @throws CliError exit code 2 if it is not a URL
 */
export async function findLogin(store: TokenFile, url: string): Promise<KeptLogin | undefined> {
  const server = keptServer(url);
  const credential = await store.findCredential(server);
  return credential && { server, credential };
}

/**
 * Finds the stored login for a server.
 * @param store the stored logins
 * @param url URL of the MCP server, as given on the command line
 * @throws CliError exit code 2 if it is not a URL; LoginRequiredError if there is none
 */
export async function requireLogin(store: TokenFile, url: string): Promise<KeptLogin> {
  const login = await findLogin(store, url);
  if (login) return login;
  const server = keptServer(url);
  const before = await store.findFormerLogin(server);
  throw new LoginRequiredError(server, 'You are not logged in to this server.', before);
}
