import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';

/** Answers one MCP request: one tool, SDK version 1, no sessions. */
export async function serveMcp(request: Request): Promise<Response> {
  const server = new McpServer({ name: 'peer', version: '1.0.0' });
  server.registerTool('greet', { description: 'Greets' }, () => ({
    content: [{ type: 'text', text: 'Hello' }],
  }));
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  return transport.handleRequest(request);
}
