import { setTimeout as sleep } from 'node:timers/promises';
import {
  acceptedContent,
  inputRequired,
  McpServer,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { callerOf } from '../../../../src/mcp/index.ts';
import type { OwnServer } from '../../../../src/protected-server.ts';

/** What tools of a victim did. */
export interface Seen {
  started: string[];
  aborted: string[];
  finished: string[];
}

const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });

/** A server whose tools say what attackers want them to, and what happened in it. */
export function createVictim(sharing: 'each' | 'shared'): { server: OwnServer; seen: Seen } {
  const seen: Seen = { started: [], aborted: [], finished: [] };
  const create = (): McpServer => {
    const server = new McpServer(
      { name: 'victim', version: '1.0.0' },
      {
        capabilities: { logging: {}, resources: { subscribe: true } },
        supportedProtocolVersions: ['2026-07-28', ...SUPPORTED_PROTOCOL_VERSIONS],
      },
    );
    const words = z.object({ words: z.string(), aloud: z.boolean().default(false) });
    server.registerTool('echo', { inputSchema: words }, async ({ words: said, aloud }, { mcpReq }) => {
      if (aloud) await mcpReq.log('error', said);
      return text(said);
    });
    server.registerTool('fail', { inputSchema: words }, async ({ words: said, aloud }, { mcpReq }) => {
      if (aloud) await mcpReq.log('error', said);
      throw new Error(said);
    });
    server.registerTool(
      'wait',
      { inputSchema: z.object({ ms: z.number(), label: z.string() }) },
      async ({ ms, label }, { mcpReq }) => {
        seen.started.push(label);
        mcpReq.signal.addEventListener('abort', () => seen.aborted.push(label));
        await sleep(ms, undefined, { signal: mcpReq.signal });
        seen.finished.push(label);
        return text(label);
      },
    );
    server.registerTool(
      'flood',
      { inputSchema: z.object({ count: z.number(), bytes: z.number() }) },
      async ({ count, bytes }, { mcpReq }) => {
        const data = 'x'.repeat(bytes);
        for (let at = 0; at < count && !mcpReq.signal.aborted; at++) {
          await mcpReq.log('error', data);
          await sleep(0);
        }
        return text('flooded');
      },
    );
    server.registerTool('ask', { inputSchema: z.object({}) }, async (_input, context) => {
      seen.started.push('ask');
      const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'a secret' } }];
      const answer = await context.mcpReq.send({
        method: 'sampling/createMessage',
        params: { messages, maxTokens: 1 },
      });
      return text(JSON.stringify(answer.content));
    });
    server.registerTool('name', { inputSchema: z.object({ of: z.string() }) }, ({ of }, context) => {
      const answer = acceptedContent<{ name: string }>(context.mcpReq.inputResponses, 'name');
      if (answer) return text(`${context.mcpReq.requestState()} of ${of}: ${answer.name}`);
      const requestedSchema = { type: 'object' as const, properties: { name: { type: 'string' as const } } };
      return inputRequired({
        inputRequests: { name: inputRequired.elicit({ message: 'Your name?', requestedSchema }) },
        requestState: `asked ${callerOf(context).subject}`,
      });
    });
    server.server.setRequestHandler('resources/subscribe', () => ({}));
    server.server.setRequestHandler('resources/unsubscribe', () => ({}));
    server.registerResource('a', 'test://a', {}, ({ href }) => ({ contents: [{ uri: href, text: 'a' }] }));
    return server;
  };
  const scopes = { 'notes:read': 'Look.', 'notes:write': 'Touch.' };
  return { server: { create, sharing, scopes }, seen };
}
