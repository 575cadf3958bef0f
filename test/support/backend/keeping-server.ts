import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Json = Record<string, unknown>;

/** A message, as far as this server reads it. */
interface Said {
  id?: string | number;
  method?: string;
  params?: Json;
}

/** An MCP server that keeps tasks, pages and subscriptions for whoever holds its credential. */
export interface KeepingServer {
  /** Methods and params that arrived, in order. */
  received: { method: string; params: Json }[];
  /** Returns the answer to a request; undefined for a notification. */
  answer(message: Said): Json | undefined;
}

const serverInfo = { name: 'keeping', version: '1' };
const older = {
  tools: {},
  resources: { subscribe: true },
  tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
};
const modernMeta = { 'io.modelcontextprotocol/serverInfo': serverInfo };

/**
 * Creates a server as somebody wrote it who knows one caller only: every task is shown to everybody, and a cursor is the
 * number of the page. It speaks the older revisions, or 2026-07-28.
 */
export function createKeepingServer(era: 'legacy' | 'modern'): KeepingServer {
  const received: KeepingServer['received'] = [];
  const tasks = new Map<string, { secret: unknown; status: string }>();
  const shown = (taskId: string): Json => ({
    taskId,
    status: tasks.get(taskId)?.status,
    createdAt: '2026-01-01T00:00:00Z',
    lastUpdatedAt: '2026-01-01T00:00:00Z',
    ...(era === 'legacy' ? { ttl: 60_000 } : { ttlMs: 60_000 }),
  });
  const whole = (result: Json): Json =>
    era === 'legacy' ? { result } : { result: { resultType: 'complete', _meta: modernMeta, ...result } };

  const ofTask = (method: string, taskId: string): Json => {
    const task = tasks.get(taskId);
    if (!task) return { error: { code: -32602, message: 'There is no such task here.' } };
    if (method === 'tasks/cancel') task.status = 'cancelled';
    if (method !== 'tasks/result') return whole(shown(taskId));
    return whole({ content: [{ type: 'text', text: String(task.secret) }] });
  };
  const page = (cursor: unknown): Json => {
    const at = Number(cursor ?? 1);
    const tool = { name: `tool-${at}`, inputSchema: { type: 'object' } };
    return { tools: [tool], ...(at < 3 && { nextCursor: String(at + 1) }) };
  };

  return {
    received,
    answer({ id, method = '', params = {} }) {
      if (id === undefined) return undefined;
      received.push({ method, params });
      const { arguments: given } = params as { arguments?: Json };
      switch (method) {
        case 'initialize':
          return era === 'legacy'
            ? { result: { protocolVersion: params.protocolVersion, capabilities: older, serverInfo } }
            : { error: { code: -32022, message: 'Unsupported', data: { supported: ['2026-07-28'] } } };
        case 'server/discover':
          return era === 'legacy'
            ? { error: { code: -32601, message: 'Method not found' } }
            : whole({
                supportedVersions: ['2026-07-28'],
                capabilities: { tools: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } },
                serverInfo,
                ttlMs: 0,
                cacheScope: 'private',
              });
        case 'tools/list':
          return whole(page(params.cursor));
        case 'tools/call': {
          if (era === 'legacy' && params.task === undefined) return whole({ content: [] });
          const taskId = `task-${tasks.size + 1}`;
          tasks.set(taskId, { secret: given?.secret, status: 'working' });
          if (era === 'legacy') return { result: { task: shown(taskId) } };
          return { result: { resultType: 'task', _meta: modernMeta, ...shown(taskId) } };
        }
        case 'tasks/list':
          return whole({ tasks: [...tasks.keys()].map(shown) });
        case 'tasks/get':
        case 'tasks/result':
        case 'tasks/cancel':
        case 'tasks/update':
          return ofTask(method, String(params.taskId));
        case 'resources/subscribe':
          return { result: {} };
        default:
          return { error: { code: -32601, message: 'Method not found' } };
      }
    },
  };
}

/** A server on loopback that keeps what it hands out by one credential. */
export interface ServedKeeping extends KeepingServer {
  url: string;
  stop(): Promise<void>;
}

/** Serves it over Streamable HTTP without sessions, answered with JSON. */
export async function serveKeeping(era: 'legacy' | 'modern'): Promise<ServedKeeping> {
  const keeping = createKeepingServer(era);
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    if (request.method !== 'POST') {
      response.writeHead(405).end();
      return;
    }
    const message = JSON.parse(body) as Said;
    const answer = keeping.answer(message);
    if (!answer) {
      response.writeHead(202).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...answer }));
  };
  const server = createServer((request, response) => void take(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    ...keeping,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
