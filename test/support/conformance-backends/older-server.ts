import type { McpServer } from '@modelcontextprotocol/server';
import { registerAskingInRounds } from '../conformance-server/rounds.ts';
import { createConformanceServer } from '../conformance-server/server.ts';

/**
 * Makes the MCP server the official suite wants to find, for a transport of the legacy era. What the suite has for
 * 2026-07-28 alone is there, too: the SDK asks an older client by requests where a newer one is answered with
 * `input_required`.
 */
export function createOlderServer(): McpServer {
  const server = createConformanceServer({ era: 'legacy' });
  registerAskingInRounds(server);
  return server;
}
