// The library of mcp-proxy before a server reached by Streamable HTTP: one client there, a session for each client here.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Server } from '@modelcontextprotocol/server';
import { proxyServer, startHTTPServer } from 'mcp-proxy';

const client = new Client({ name: 'proxy', version: '1.0.0' }, { capabilities: {} });
await client.connect(new StreamableHTTPClientTransport(new URL(process.env.UPSTREAM ?? '')));
const serverCapabilities = client.getServerCapabilities() ?? {};
await startHTTPServer({
  port: Number(process.env.PORT),
  host: '127.0.0.1',
  sseEndpoint: null,
  streamEndpoint: '/mcp',
  createServer: async () => {
    const server = new Server({ name: 'echo', version: '1.0.0' }, { capabilities: serverCapabilities });
    await proxyServer({ client, server, serverCapabilities });
    return server;
  },
});
process.on('SIGTERM', () => process.exit(0));
