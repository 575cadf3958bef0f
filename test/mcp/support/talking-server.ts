import { setTimeout as sleep } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { ServerSource } from '../../../src/mcp/index.ts';
import { type EventReader, readEvents } from './event-reader.ts';
import type { Gate } from './gate.ts';

export const ping = (id: unknown = 1) => ({ jsonrpc: '2.0', id, method: 'ping' });
export const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
export const inSession = (session: string, more: Record<string, string> = {}) => ({
  'mcp-session-id': session,
  ...more,
});

/** A server that can say something to its session at any time, and counts what its tool does. */
export function createTalkingServer(): { source: ServerSource; servers: McpServer[]; runs: string[] } {
  const servers: McpServer[] = [];
  const runs: string[] = [];
  const create = (): McpServer => {
    const server = new McpServer(
      { name: 'talking', version: '1.0.0' },
      { capabilities: { logging: {}, resources: { subscribe: true, listChanged: true } } },
    );
    server.server.setRequestHandler('resources/subscribe', (request) => {
      runs.push(`subscribed ${request.params.uri}`);
      return {};
    });
    server.registerTool('work', { inputSchema: z.object({ ms: z.number() }) }, async ({ ms }, context) => {
      runs.push('work');
      await context.mcpReq.notify({
        method: 'notifications/message',
        params: { level: 'error', data: 'begun' },
      });
      await sleep(ms);
      return { content: [{ type: 'text', text: 'done' }] };
    });
    server.registerTool('leave', { inputSchema: z.object({}) }, async (_input, context) => {
      context.http?.closeSSE?.();
      await sleep(50);
      return { content: [{ type: 'text', text: 'back' }] };
    });
    servers.push(server);
    return server;
  };
  return { source: { sharing: 'each', create }, servers, runs };
}

/** A call of its tool that takes time. */
export const work = (ms: number, id: unknown = 7) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'work', arguments: { ms } },
});

/** Opens the GET stream of a session. */
export function openStream(gate: Gate, token: string, session: string, last?: string): Promise<EventReader> {
  const headers = inSession(session, last === undefined ? {} : { 'last-event-id': last });
  return readEvents((signal) => gate.send(token, { method: 'GET', headers, signal }));
}

/** Posts a message and reads the stream it is answered with. */
export function post(gate: Gate, token: string, session: string, json: unknown): Promise<EventReader> {
  return readEvents((signal) => gate.send(token, { json, headers: inSession(session), signal }));
}
