import { setTimeout as sleep } from 'node:timers/promises';
import { acceptedContent, inputRequired, type McpServer, requireScopes } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { callerOf } from '../../../src/mcp/sdk/caller.ts';

/** Labels of calls of the tool `wait`, by what became of them. */
export interface Seen {
  started: string[];
  aborted: string[];
  finished: string[];
}

/** Adds tools, a prompt and a resource that show what a transport does. */
export function addTools(server: McpServer, seen: Seen): void {
  server.registerTool('whoami', { inputSchema: z.object({}) }, (_input, context) => ({
    content: [{ type: 'text', text: callerOf(context).subject }],
  }));
  server.registerTool('look', { inputSchema: z.object({}) }, (_input, context) => {
    const { url, headers } = context.http?.req ?? {};
    return { content: [{ type: 'text', text: JSON.stringify({ url, headers: [...(headers ?? [])] }) }] };
  });
  server.registerTool(
    'wait',
    { inputSchema: z.object({ ms: z.number(), label: z.string(), steps: z.number().default(0) }) },
    async ({ ms, label, steps }, context) => {
      seen.started.push(label);
      context.mcpReq.signal.addEventListener('abort', () => seen.aborted.push(label));
      const progressToken = context.mcpReq._meta?.progressToken;
      for (let step = 1; step <= steps; step++) {
        await sleep(ms / (steps + 1));
        await context.mcpReq.log('info', label);
        if (progressToken === undefined) continue;
        const params = { progressToken, progress: step, total: steps, message: label };
        await context.mcpReq.notify({ method: 'notifications/progress', params });
      }
      await sleep(ms / (steps + 1));
      seen.finished.push(label);
      return { content: [{ type: 'text', text: `${label} for ${callerOf(context).subject}` }] };
    },
  );
  server.registerTool('change', { inputSchema: z.object({ uri: z.string() }) }, async ({ uri }) => {
    server.sendToolListChanged();
    await server.server.sendResourceUpdated({ uri });
    return { content: [] };
  });
  server.registerTool('name', { inputSchema: z.object({}) }, (_input, context) => {
    const state = context.mcpReq.requestState();
    const answer = acceptedContent<{ name: string }>(context.mcpReq.inputResponses, 'name');
    if (answer === undefined)
      return inputRequired({
        inputRequests: {
          name: inputRequired.elicit({
            message: 'Your name?',
            requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
          }),
        },
        requestState: `asked ${callerOf(context).subject}`,
      });
    return { content: [{ type: 'text', text: `${state}: ${answer.name}` }] };
  });
  server.registerTool(
    'region',
    { inputSchema: z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) }) },
    ({ region }) => ({ content: [{ type: 'text', text: region }] }),
  );
  server.registerTool(
    'secret',
    { inputSchema: z.object({}), scopeChallenge: requireScopes('notes:secret') },
    () => ({ content: [] }),
  );
  server.registerPrompt('hello', {}, () => ({
    messages: [{ role: 'user', content: { type: 'text', text: 'hello' } }],
  }));
  server.registerResource('a', 'test://a', {}, ({ href }) => ({ contents: [{ uri: href, text: 'a' }] }));
}

/** Parameters of a call of the `wait` tool. */
export function wait(ms: number, label = 'a', steps = 0) {
  return { name: 'wait', arguments: { ms, label, steps } };
}
