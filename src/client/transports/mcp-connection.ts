import type { Client } from '@modelcontextprotocol/client';
import { type ConnectServerOptions, connectServer } from './connect-server.ts';

/**
 * Opens an MCP connection, see {@link connectServer}, and does one thing with it.
 * @param options where to, as whom, and what the client can do
 * @param work what to do with the client
 * @returns what the work returned; the session is ended before
 * @throws what connecting and the work throw
 * @see MCP lifecycle; MCP transports "Streamable HTTP"
 */
export async function withMcpConnection<T>(
  options: ConnectServerOptions,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const connection = await connectServer(options);
  try {
    return await work(connection.client);
  } finally {
    await connection.close();
  }
}
