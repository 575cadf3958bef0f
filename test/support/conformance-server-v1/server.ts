import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SubscribeRequestSchema, UnsubscribeRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { registerPrompts, registerResources } from './content.ts';
import { registerTools } from './tools.ts';

/** Makes the MCP server the official suite wants to find, written with the SDK's version 1. */
export function createConformanceServerV1(): McpServer {
  const server = new McpServer(
    { name: 'conformance-test-server-v1', version: '1.0.0' },
    { capabilities: { resources: { subscribe: true }, logging: {} } },
  );
  registerTools(server);
  registerResources(server);
  registerPrompts(server);
  server.server.setRequestHandler(SubscribeRequestSchema, () => ({}));
  server.server.setRequestHandler(UnsubscribeRequestSchema, () => ({}));
  return server;
}
