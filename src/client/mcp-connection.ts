import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Fetch } from './context.ts';

/**
 * Opens an MCP connection over streamable HTTP. The revision is negotiated: modern where the server speaks it, else legacy.
 * @param url URL of the MCP server
 * @param fetch a fetch that carries the login, see `withAuthorization`
 * @param work what to do with the client
 * @returns what the work returned; the session is ended before
 * @see MCP lifecycle; MCP transports "Streamable HTTP"
 */
export async function withMcpConnection<T>(
  url: string,
  fetch: Fetch,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client(
    { name: 'gatehouse', version: '0.1.0' },
    { versionNegotiation: { mode: 'auto' } },
  );
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
