import { setTimeout as sleep } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { callerOf, type ServerSource } from '../../../src/mcp/index.ts';

/** What the tools saw and how long they ran. */
export interface Seen {
  started: string[];
  aborted: string[];
  finished: string[];
  /** Everything a tool can learn of its request, as text. */
  contexts: string[];
  /** Servers made, and servers closed. */
  made: number;
  closed: number;
}

/** A server whose tools take their time, and what happened in it. */
export function createSlowServer(): { source: ServerSource; seen: Seen } {
  const seen: Seen = { started: [], aborted: [], finished: [], contexts: [], made: 0, closed: 0 };
  const create = (): McpServer => {
    seen.made++;
    const server = new McpServer({ name: 'slow', version: '1.0.0' }, { capabilities: { logging: {} } });
    server.server.onclose = () => {
      seen.closed++;
    };
    server.registerTool(
      'wait',
      { inputSchema: z.object({ ms: z.number(), label: z.string(), steps: z.number().default(0) }) },
      async ({ ms, label, steps }, context) => {
        seen.started.push(label);
        context.mcpReq.signal.addEventListener('abort', () => seen.aborted.push(label));
        const progressToken = context.mcpReq._meta?.progressToken;
        for (let step = 1; step <= steps; step++) {
          await sleep(ms / (steps + 1));
          if (progressToken === undefined) continue;
          const params = { progressToken, progress: step, total: steps, message: label };
          await context.mcpReq.notify({ method: 'notifications/progress', params });
        }
        await sleep(ms / (steps + 1));
        seen.finished.push(label);
        return { content: [{ type: 'text', text: `${label} for ${callerOf(context).subject}` }] };
      },
    );
    server.registerTool('look', { inputSchema: z.object({}) }, (_input, context) => {
      const headers = [...(context.http?.req?.headers ?? [])];
      seen.contexts.push(
        JSON.stringify({ headers, url: context.http?.req?.url, auth: context.http?.authInfo }),
      );
      return { content: [] };
    });
    server.registerTool('fill', { inputSchema: z.object({ megabytes: z.number() }) }, ({ megabytes }) => ({
      content: [{ type: 'text', text: 'x'.repeat(megabytes * 1024 * 1024) }],
    }));
    server.registerTool('ask', { inputSchema: z.object({}) }, async (_input, context) => {
      const answer = await context.mcpReq.send({
        method: 'sampling/createMessage',
        params: {
          messages: [{ role: 'user', content: { type: 'text', text: 'secret of ann' } }],
          maxTokens: 10,
        },
      });
      return { content: [{ type: 'text', text: `answered: ${JSON.stringify(answer.content)}` }] };
    });
    return server;
  };
  return { source: { sharing: 'each', create }, seen };
}

/** Parameters of a call of the `wait` tool. */
export function wait(ms: number, label = 'a', steps = 0) {
  return { name: 'wait', arguments: { ms, label, steps } };
}
