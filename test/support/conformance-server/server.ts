import { McpServer, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import type { ServerContext } from '../../../src/mcp/protocol.ts';
import { registerChanges, registerReconnection } from './changes.ts';
import { registerContent } from './content.ts';
import { registerRequests } from './requests.ts';
import { registerAskingInRounds, rounds } from './rounds.ts';

const cacheHint = { ttlMs: 60_000, cacheScope: 'private' } as const;

/** Makes the MCP server the official suite wants to find. */
export function createConformanceServer({ era }: Pick<ServerContext, 'era'>): McpServer {
  const server = new McpServer(
    { name: 'conformance-test-server', version: '1.0.0' },
    {
      supportedProtocolVersions: ['2026-07-28', ...SUPPORTED_PROTOCOL_VERSIONS],
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        logging: {},
        completions: {},
      },
      cacheHints: { 'tools/list': cacheHint, 'resources/list': cacheHint, 'prompts/list': cacheHint },
      requestState: { verify: rounds.verify },
    },
  );
  registerContent(server);
  registerRequests(server);
  registerChanges(server);
  if (era === 'modern') registerAskingInRounds(server);
  else {
    registerReconnection(server);
    server.server.setRequestHandler('resources/subscribe', () => ({}));
    server.server.setRequestHandler('resources/unsubscribe', () => ({}));
  }
  return server;
}
