import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });

/** Has a tool's call answered, and something said that belongs to no call. */
function afterwards(say: () => Promise<void>): ReturnType<typeof text> {
  setTimeout(say, 5);
  return text('');
}

/**
 * Makes a server with a slow tool, and tools that have it say something of its own accord.
 * @param runs file that takes a line for each run of the slow tool
 */
export function makeSlowServer(runs: string): McpServer {
  const capabilities = { logging: {}, resources: { subscribe: true } };
  const server = new McpServer({ name: 'slow', version: '1' }, { capabilities });
  const subscribed = new Set<string>();
  server.server.setRequestHandler('resources/subscribe', ({ params }) => {
    subscribed.add(params.uri);
    return {};
  });
  server.registerResource('a', 'test://a', {}, ({ href }) => ({ contents: [{ uri: href, text: 'a' }] }));

  server.registerTool(
    'slow',
    { inputSchema: z.object({ label: z.string(), ms: z.number() }) },
    async ({ label, ms }, { mcpReq }) => {
      appendFileSync(runs, `${label}\n`);
      const progressToken = mcpReq._meta?.progressToken;
      if (progressToken !== undefined)
        await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
      await sleep(ms, undefined, { signal: mcpReq.signal });
      return text(label);
    },
  );
  server.registerTool('echo', { inputSchema: z.object({ said: z.string() }) }, ({ said }) => text(said));
  server.registerTool(
    'log',
    { inputSchema: z.object({ level: z.enum(['info', 'error']), data: z.string() }) },
    ({ level, data }, { sessionId }) =>
      afterwards(() => server.server.sendLoggingMessage({ level, data }, sessionId)),
  );
  server.registerTool('update', { inputSchema: z.object({ uri: z.string() }) }, ({ uri }) =>
    afterwards(async () => {
      if (subscribed.has(uri)) await server.server.sendResourceUpdated({ uri });
    }),
  );
  return server;
}
