import type { Client, ClientCapabilities, RequestOptions } from '@modelcontextprotocol/client';
import {
  type ConnectServerOptions,
  clientCredentialsExtension,
  withAuthorization,
  withMcpConnection,
} from '../../../client/index.ts';
import { openTokenFile, withCommandConnection } from '../../../client/node/index.ts';
import { packageVersion } from '../../../package-version.ts';
import type { CommandIo } from '../../output.ts';
import { explainFailure, requireServerUrl } from './client-failure.ts';
import {
  type ConnectionOptions,
  readGivenHeaders,
  splitCommandLine,
  withHeaders,
} from './connection-options.ts';
import { tellSlips, withTrace } from './trace.ts';

/** How a command connects. */
export interface WithServerOptions extends ConnectionOptions {
  /** What the client can be asked. */
  capabilities?: ClientCapabilities;
  /** Sets the client up before it connects. */
  prepare?: (client: Client) => void;
}

/** How the commands name themselves to servers. */
export function clientInfo(): { name: string; version: string } {
  return { name: 'gatehouse', version: packageVersion() };
}

/**
 * What a command's requests go through: the login that is kept for the server, and the headers that were given. An
 * `Authorization` header that was given takes the place of the login. A machine that was logged in as itself has the
 * extension for that turned on (A13-01, A13-11).
 * @param server URL of the MCP server
 * @param options how to connect
 * @param io the surroundings
 * @throws CliError
 */
export async function serverFetches(
  server: string,
  { header = [], trace }: ConnectionOptions,
  io: CommandIo,
): Promise<Pick<ConnectServerOptions, 'fetch' | 'eventStreamFetch' | 'extensions'>> {
  const headers = readGivenHeaders(header, io.env);
  const fetch = withHeaders(withTrace(io, trace).fetch, server, headers);
  if (headers.has('authorization')) return { fetch };
  const context = { fetch, now: io.now, ...(trace ? { tolerated: tellSlips(io, true) } : {}) };
  const store = openTokenFile(io.env);
  const grant = (await store.findCredential(server))?.grant?.type;
  return {
    extensions: grant === 'client_credentials' ? [clientCredentialsExtension] : [],
    fetch: withAuthorization(context, server, store),
    eventStreamFetch: withAuthorization(context, server, store, { wholeOrigin: true }),
  };
}

/** Options of a request of a command: it ends where the server neither answers nor tells of progress. */
export function requestOptions({ timeout }: ConnectionOptions): RequestOptions {
  return {
    resetTimeoutOnProgress: true,
    ...(timeout === undefined ? {} : { timeout: timeout * 1000 }),
  };
}

/**
 * Connects to an MCP server with the login that is kept for it, and does one thing there.
 * @param url URL of the MCP server, or a command line, as given
 * @param io the surroundings
 * @param work what to do
 * @param options how to connect
 * @throws CliError
 */
export async function withServer<T>(
  url: string,
  io: CommandIo,
  work: (client: Client) => Promise<T>,
  options: WithServerOptions = {},
): Promise<T> {
  const { transport, timeout, capabilities = {}, prepare } = options;
  const as = {
    clientInfo: clientInfo(),
    client: { capabilities },
    prepare,
    timeoutMs: timeout === undefined ? undefined : timeout * 1000,
  };
  try {
    if (transport === 'stdio')
      return await withCommandConnection({ ...as, command: splitCommandLine(url), env: io.env }, work);
    const server = requireServerUrl(url);
    const fetches = await serverFetches(server, options, io);
    return await withMcpConnection({ ...as, ...fetches, url: server, transport }, work);
  } catch (error) {
    throw explainFailure(error, url);
  }
}
