import { canonicalServerUrl, LoginRequiredError } from '../../client/index.ts';
import type { KeptLogin, TokenFile } from '../../client/node/index.ts';
import { requireServerUrl } from './client-failure.ts';

/**
 * Finds the login that is kept for a server.
 * @param store where logins are kept
 * @param url URL of the MCP server, as given on the command line
 * @throws CliError exit code 2 for what is no URL; LoginRequiredError where there is none
 */
export async function requireLogin(store: TokenFile, url: string): Promise<KeptLogin> {
  const server = canonicalServerUrl(requireServerUrl(url));
  const credential = await store.findCredential(server);
  if (credential === undefined) throw new LoginRequiredError(server, 'You are not logged in to this server.');
  return { server, credential };
}
