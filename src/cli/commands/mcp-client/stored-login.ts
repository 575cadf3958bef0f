import { canonicalServerUrl, LoginRequiredError } from '../../../client/index.ts';
import { type KeptLogin, openTokenFile, type Sealing, type TokenFile } from '../../../client/node/index.ts';
import type { CommandIo } from '../../output.ts';
import { explainFailure, requireServerUrl } from './client-failure.ts';

/**
 * Opens the logins of this user, see `openTokenFile`.
 * @param io the surroundings
 * @param chosen how they are kept, before `$GATEHOUSE_STORE`
 * @throws CliError exit code 2 where `$GATEHOUSE_STORE` names no way to keep them
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
 * @returns the URL under which its login is kept
 * @throws CliError exit code 2 for what is no URL
 */
export function keptServer(url: string): string {
  return canonicalServerUrl(requireServerUrl(url));
}

/**
 * Looks for the login that is kept for a server.
 * @param store where logins are kept
 * @param url URL of the MCP server, as given on the command line
 * @returns undefined where there is none
 * @throws CliError exit code 2 for what is no URL
 */
export async function findLogin(store: TokenFile, url: string): Promise<KeptLogin | undefined> {
  const server = keptServer(url);
  const credential = await store.findCredential(server);
  return credential && { server, credential };
}

/**
 * Finds the login that is kept for a server.
 * @param store where logins are kept
 * @param url URL of the MCP server, as given on the command line
 * @throws CliError exit code 2 for what is no URL; LoginRequiredError where there is none
 */
export async function requireLogin(store: TokenFile, url: string): Promise<KeptLogin> {
  const login = await findLogin(store, url);
  if (login) return login;
  const server = keptServer(url);
  const before = await store.findFormerLogin(server);
  throw new LoginRequiredError(server, 'You are not logged in to this server.', before);
}
