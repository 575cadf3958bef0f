import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Fetch } from '../context.ts';

/** What a connection needs. */
export interface McpConnectionOptions {
  /** URL of the MCP server. */
  url: string;
  /** A fetch that carries the login, see `withAuthorization`. */
  fetch: Fetch;
  /** How the client names itself to the server. */
  clientInfo: { name: string; version: string };
}

/**
 * Opens an MCP connection over streamable HTTP. The revision is negotiated: modern where the server speaks it, else legacy.
 * @param options where to, and as whom
 * @param work what to do with the client
 * @returns what the work returned; the session is ended before
 * @see MCP lifecycle; MCP transports "Streamable HTTP"
 */
export async function withMcpConnection<T>(
  { url, fetch, clientInfo }: McpConnectionOptions,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client(clientInfo, { versionNegotiation: { mode: 'auto' } });
  const transport = new StreamableHTTPClientTransport(new URL(url), { fetch, onInsufficientScope: 'throw' });
  try {
    await client.connect(transport);
    const result = await work(client);
    await transport.terminateSession().catch(() => undefined);
    return result;
  } finally {
    await client.close();
  }
}
