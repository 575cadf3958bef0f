import { McpServer } from '@modelcontextprotocol/server';
import type { ProtectedServer } from '../../../src/index.ts';
import { registerContent } from './content.ts';
import { registerRequests } from './requests.ts';
import { registerAskingInRounds, rounds } from './rounds.ts';

/** The MCP server the official suite wants to find, to be put behind a gatehouse like any other. */
export const conformanceServer: ProtectedServer = {
  name: 'Conformance test server',
  scopes: { 'suite:run': 'Run the conformance suite.' },
  create: ({ era }) => {
    const server = new McpServer(
      { name: 'conformance-test-server', version: '1.0.0' },
      {
        capabilities: {
          tools: {},
          prompts: {},
          resources: { subscribe: true },
          logging: {},
          completions: {},
        },
        requestState: { verify: rounds.verify },
      },
    );
    registerContent(server);
    registerRequests(server);
    if (era === 'modern') registerAskingInRounds(server);
    else {
      server.server.setRequestHandler('resources/subscribe', () => ({}));
      server.server.setRequestHandler('resources/unsubscribe', () => ({}));
    }
    return server;
  },
};
