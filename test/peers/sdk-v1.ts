// The demonstration authorization server of SDK version 1, in front of an MCP server on the same origin.
import { DemoInMemoryAuthProvider } from '@modelcontextprotocol/sdk/examples/server/demoInMemoryOAuthProvider.js';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import {
  getOAuthProtectedResourceMetadataUrl,
  mcpAuthRouter,
} from '@modelcontextprotocol/sdk/server/auth/router.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import express from 'express';
import { port } from './listen.ts';

const origin = `http://127.0.0.1:${port}`;
const resource = new URL(`${origin}/mcp`);
const provider = new DemoInMemoryAuthProvider();
const app = express();
app.use(express.json());
app.use(
  mcpAuthRouter({
    provider,
    issuerUrl: new URL(origin),
    resourceServerUrl: resource,
    scopesSupported: ['mcp:tools'],
  }),
);
const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(resource);
app.all('/mcp', requireBearerAuth({ verifier: provider, resourceMetadataUrl }), async (request, response) => {
  const server = new McpServer({ name: 'peer', version: '1.0.0' });
  server.registerTool('greet', { description: 'Greets' }, () => ({
    content: [{ type: 'text', text: 'Hello' }],
  }));
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  await transport.handleRequest(request, response, request.body);
});
app.listen(port, '127.0.0.1', () => console.log(resource.href));
