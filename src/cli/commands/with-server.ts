import type { Client } from '@modelcontextprotocol/client';
import { withAuthorization, withMcpConnection } from '../../client/index.ts';
import { openTokenFile } from '../../client/node/index.ts';
import type { CommandIo } from '../output.ts';
import { packageVersion } from '../package-version.ts';
import { explainFailure, requireServerUrl } from './client-failure.ts';

/**
 * Connects to an MCP server with the login that is kept for it, and does one thing there.
 * @param url URL of the MCP server, as given on the command line
 * @param io the surroundings
 * @param work what to do
 * @throws CliError
 */
export async function withServer<T>(
  url: string,
  io: CommandIo,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const server = requireServerUrl(url);
  try {
    const store = openTokenFile(io.env);
    const fetch = withAuthorization({ fetch: io.fetch, now: io.now }, server, store);
    const clientInfo = { name: 'gatehouse', version: packageVersion() };
    return await withMcpConnection({ url: server, fetch, clientInfo }, work);
  } catch (error) {
    throw explainFailure(error, url);
  }
}
