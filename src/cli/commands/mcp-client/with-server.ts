import type { Client, ClientCapabilities, RequestOptions } from '@modelcontextprotocol/client';
import {
  type ConnectServerOptions,
  clientCredentialsExtension,
  withAuthorization,
  withMcpConnection,
} from '../../../client/index.ts';
import { openTokenFile, withCommandConnection } from '../../../client/node/index.ts';
import { readingMarkedNumbers } from '../../../client/transports/exact-numbers.ts';
import { packageVersion } from '../../../package-files.ts';
import type { CommandIo } from '../../output.ts';
import { explainFailure, requireServerUrl } from './client-failure.ts';
import {
  type ConnectionOptions,
  readGivenHeaders,
  splitCommandLine,
  withHeaders,
} from './connection-options.ts';
import { tellSlips, withTrace } from './trace.ts';

/** Options of {@link withServer}. */
export interface WithServerOptions extends ConnectionOptions {
  /** Capabilities that the client declares. */
  capabilities?: ClientCapabilities;
  /** Sets the client up before it connects. */
  prepare?: (client: Client) => void;
}

/** Returns the name and version that the commands report to servers. */
function clientInfo(): { name: string; version: string } {
  return { name: 'gatehouse', version: packageVersion() };
}

/**
 * Returns the fetch functions of a command: they add the stored login and the given headers. A given `Authorization` header
 * replaces the login. A machine login declares its extension (A13-01, A13-11).
 * @param server URL of the MCP server
 * @param options how to connect
 * @throws CliError
 */
async function serverFetches(
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

/** Returns the SDK's options for a request: it times out if the server sends neither a response nor progress. */
export function requestOptions({ timeout }: ConnectionOptions): RequestOptions {
  return {
    resetTimeoutOnProgress: true,
    ...(timeout === undefined ? {} : { timeout: timeout * 1000 }),
  };
}

/**
 * Connects to an MCP server with the stored login, and runs one task.
 * @param url URL of the MCP server, or a command line, as given
 * @param work the task
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
    client: { capabilities, ...readingMarkedNumbers() },
    markedNumbers: 'content' as const,
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
