import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/server';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { type Preflight, withPreflight } from '../../../src/mcp/http/dispatch.ts';
import type { Serve } from '../../../src/mcp/http/exchange.ts';
import { HeldBytes } from '../../../src/mcp/http/held-bytes.ts';
import { createCallLimit } from '../../../src/mcp/http/limits.ts';
import { createPulse, NodeReply } from '../../../src/mcp/http/node-reply.ts';
import { sendRefusal } from '../../../src/mcp/http/refusal.ts';
import type { StatelessTransportOptions } from '../../../src/mcp/legacy/stateless.ts';
import type { Conversations, ServerSource } from '../../../src/mcp/protocol.ts';
import { createScopeGate } from '../../../src/mcp/scopes/scope-gate.ts';
import type { ScopeRules } from '../../../src/mcp/scopes/scope-rules.ts';
import { callerOf } from '../../../src/mcp/sdk/caller.ts';
import { createConversations } from '../../../src/mcp/sdk/conversations.ts';
import { createWriteBatcher } from '../../../src/net/write-batcher.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { authInfoWith } from './auth-info.ts';

/** What the tools of a test did. */
export interface Seen {
  made: number;
  closed: number;
  started: string[];
  aborted: string[];
  notified: string[];
}

/** Registers tools that say who calls, take their time, ask the client, and tell their progress. */
export function registerTestTools(server: McpServer, seen: Seen): void {
  server.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, ({ text }, context) => ({
    content: [{ type: 'text', text: `${text} of ${callerOf(context).subject}` }],
  }));
  server.registerTool(
    'wait',
    { inputSchema: z.object({ ms: z.number(), label: z.string() }) },
    async ({ ms, label }, { mcpReq }) => {
      seen.started.push(label);
      mcpReq.signal.addEventListener('abort', () => seen.aborted.push(label));
      const progressToken = mcpReq._meta?.progressToken ?? 1;
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
      await sleep(ms, undefined, { signal: mcpReq.signal });
      return { content: [{ type: 'text', text: label }] };
    },
  );
  server.registerTool('ask', { inputSchema: z.object({}) }, async (_input, { mcpReq }) => {
    const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'secret' } }];
    await mcpReq.send({ method: 'sampling/createMessage', params: { messages, maxTokens: 1 } });
    return { content: [] };
  });
}

/** A source of servers with the test tools. */
export function testSource(sharing: 'each' | 'shared' = 'each'): { source: ServerSource; seen: Seen } {
  const seen: Seen = { made: 0, closed: 0, started: [], aborted: [], notified: [] };
  const create = (): McpServer => {
    seen.made++;
    const server = new McpServer({ name: 'test', version: '1.0.0' });
    server.server.onclose = () => {
      seen.closed++;
    };
    registerTestTools(server, seen);
    server.server.setNotificationHandler('notifications/roots/list_changed', () => {
      seen.notified.push('roots');
    });
    return server;
  };
  return { source: { sharing, create }, seen };
}

/** What a test chooses. */
export interface ServedOptions {
  sharing?: 'each' | 'shared';
  conversations?: Conversations;
  rules?: ScopeRules;
  maxCalls?: number;
  preflight?: Partial<Preflight>;
}

/** A transport on a real socket. */
export interface Served {
  url: string;
  seen: Seen;
  /** Posts JSON, or a text as it is. Who calls stands in `x-subject`. */
  post(body: unknown, headers?: Record<string, string>): Promise<Response>;
  log: string[];
  /** Ends what runs. */
  stop(): void;
}

/** Serves a transport for one test, with the checks that stand in front of all. */
export async function serveTransport(
  create: (options: StatelessTransportOptions) => Serve,
  { sharing, rules = {}, maxCalls = 1000, preflight = {}, ...options }: ServedOptions = {},
): Promise<Served> {
  const http = createServer();
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  const resourceMetadataUrl = `${url}/metadata`;
  const log: string[] = [];
  const logger = createLogger('debug', (line) => log.push(line));
  const { source, seen } = testSource(sharing);
  const conversations = options.conversations ?? createConversations({ source, logger });
  const gate = createScopeGate(rules, resourceMetadataUrl);
  const stopping = new AbortController();
  const transport = create({
    conversations,
    url: new URL(url),
    gate,
    calls: createCallLimit(maxCalls),
    access: { watch: () => () => undefined },
    stopped: stopping.signal,
    logger,
  });
  const serve = withPreflight(
    {
      checkMethod: () => undefined,
      checkAccept: () => undefined,
      body: { maxBytes: 1_000_000, isRelayed: false },
      ...preflight,
    },
    transport,
  );
  const pulse = createPulse(10_000);
  const sendTogether = createWriteBatcher();
  http.on('request', async (req, res) => {
    const reply = new NodeReply(res, pulse, sendTogether, { held: new HeldBytes() });
    const { method = '', headers } = req;
    const scopes = String(headers['x-scopes'] ?? 'all').split(' ');
    const authInfo = { ...authInfoWith(...scopes), subject: String(headers['x-subject'] ?? 'ann') };
    try {
      const refusal = await serve({ method, headers, query: '', body: req, authInfo, reply });
      if (refusal) sendRefusal(refusal, reply);
    } catch (error) {
      if (!reply.isBegun) reply.json(500, { error: String(error) });
    }
  });
  onTestFinished(async () => {
    await conversations.close();
    http.closeAllConnections();
    http.close();
  });
  return {
    url,
    seen,
    log,
    stop: () => stopping.abort(),
    post: (body, headers = {}) =>
      fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
  };
}

/** A request. */
export function rpc(id: unknown, method: string, params: Record<string, unknown> = {}) {
  return { jsonrpc: '2.0', id, method, params };
}

/** A tool call. */
export function call(id: unknown, name: string, args: Record<string, unknown> = {}) {
  return rpc(id, 'tools/call', { name, arguments: args });
}

/** An answer with one text, as the SDK's version 2 gives it. */
export function textAnswer(id: unknown, text: string) {
  return { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } };
}

/** Posts and goes away before the answer comes. Resolves when the connection is cut. */
export async function postAndLeave(url: string, body: unknown, when: () => boolean): Promise<void> {
  const req = httpRequest(url, { method: 'POST', headers: { 'content-type': 'application/json' } });
  req.on('error', () => undefined);
  req.end(JSON.stringify(body));
  await until(when);
  req.destroy();
}

/** Waits, at most two seconds, until something holds. */
export async function until(holds: () => boolean): Promise<void> {
  for (let waited = 0; !holds(); waited += 10) {
    if (waited > 2000) throw new Error('It did not come to hold within two seconds.');
    await sleep(10);
  }
}
