import { randomUUID } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

/** What a server elsewhere was sent, as far as tests look at it. */
export interface Received {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
}

/** An MCP server that is reached by URL. */
export interface Elsewhere {
  /** Of its only endpoint; for HTTP+SSE that of the stream. */
  url: string;
  origin: string;
  received: Received[];
  /** Ids of its sessions that are open. */
  sessions: Map<string, McpServerV1>;
  /** Forgets all sessions, as a restart does. */
  forget(): void;
  stop(): Promise<void>;
}

const text = (value: unknown) => ({ content: [{ type: 'text' as const, text: JSON.stringify(value) }] });

/** A server with tools that show how messages cross, made with SDK v1. */
export function createToolServer(): McpServerV1 {
  const server = new McpServerV1(
    { name: 'elsewhere', version: '1' },
    { capabilities: { logging: {}, tools: { listChanged: true }, resources: { subscribe: true } } },
  );
  server.registerTool(
    'echo',
    { inputSchema: { text: z.string(), delayMs: z.number().optional() } },
    async ({ text: said, delayMs = 0 }) => {
      await pause(delayMs);
      return text({ said });
    },
  );
  server.registerTool('seen', {}, async ({ requestInfo, _meta, sessionId }) =>
    text({ headers: requestInfo?.headers, meta: _meta ?? {}, sessionId }),
  );
  server.registerTool('ask', {}, async (_extra) =>
    text(
      await server.server.elicitInput({
        message: 'What is your name?',
        requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      }),
    ),
  );
  server.registerTool('ask-here', {}, async ({ sendRequest }) =>
    text(
      await sendRequest(
        {
          method: 'elicitation/create',
          params: {
            message: 'What is your name?',
            requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
          },
        },
        z.object({ action: z.string(), content: z.unknown() }),
      ),
    ),
  );
  server.registerTool('steps', {}, async ({ _meta, sendNotification }) => {
    for (const progress of [1, 2, 3])
      await sendNotification({
        method: 'notifications/progress',
        params: { progressToken: _meta?.progressToken ?? 0, progress, total: 3 },
      });
    return text('done');
  });
  server.registerTool('log', {}, async () => {
    await server.server.sendLoggingMessage({ level: 'warning', data: 'written by elsewhere' });
    return text('logged');
  });
  server.registerTool('grow', {}, async () => {
    server.registerTool(`grown-${randomUUID()}`, {}, async () => text('grown'));
    return text('grown');
  });
  return server;
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

/** Listens on loopback. @param answer takes each request; @param port any that is free by default */
export async function listen(
  answer: (request: IncomingMessage, response: ServerResponse, received: Received) => Promise<void> | void,
  port = 0,
): Promise<{ origin: string; received: Received[]; stop(): Promise<void> }> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    const seen = { method, url, headers };
    received.push(seen);
    void (async () => answer(request, response, seen))().catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500);
      response.end(String(error));
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Serves {@link createToolServer} over Streamable HTTP, with sessions, at `/mcp`. */
export async function serveStreamable({ json = false, port = 0 } = {}): Promise<Elsewhere> {
  const sessions = new Map<string, McpServerV1>();
  const transports = new Map<string, StreamableHTTPServerTransport>();
  const { origin, received, stop } = await listen(async (request, response) => {
    if (request.url !== '/mcp') {
      response.writeHead(404).end('Cannot find it');
      return;
    }
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? transports.get(id) : undefined;
    const body = request.method === 'POST' ? await readJson(request) : undefined;
    if (known) {
      await known.handleRequest(request, response, body);
      return;
    }
    if (id !== undefined) {
      const error = { code: -32001, message: 'Session not found' };
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', error, id: null }));
      return;
    }
    const server = createToolServer();
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      enableJsonResponse: json,
      onsessioninitialized(started) {
        sessions.set(started, server);
        transports.set(started, transport);
      },
      onsessionclosed(ended) {
        sessions.delete(ended);
        transports.delete(ended);
      },
    });
    await server.connect(transport as Parameters<typeof server.connect>[0]);
    await transport.handleRequest(request, response, body);
  }, port);
  return {
    url: `${origin}/mcp`,
    origin,
    received,
    sessions,
    forget() {
      for (const transport of transports.values()) void transport.close();
      sessions.clear();
      transports.clear();
    },
    stop,
  };
}

/** Serves {@link createToolServer} over HTTP+SSE at `/sse` and `/messages`. */
export async function serveEventStream(): Promise<Elsewhere> {
  const sessions = new Map<string, McpServerV1>();
  const transports = new Map<string, SSEServerTransport>();
  const { origin, received, stop } = await listen(async (request, response) => {
    const url = new URL(request.url ?? '', 'http://localhost');
    if (request.method === 'GET' && url.pathname === '/sse') {
      const server = createToolServer();
      const transport = new SSEServerTransport('/messages', response);
      sessions.set(transport.sessionId, server);
      transports.set(transport.sessionId, transport);
      response.once('close', () => {
        sessions.delete(transport.sessionId);
        transports.delete(transport.sessionId);
      });
      await server.connect(transport);
      return;
    }
    const known = transports.get(url.searchParams.get('sessionId') ?? '');
    if (request.method === 'POST' && url.pathname === '/messages' && known)
      await known.handlePostMessage(request, response);
    else response.writeHead(404).end('Cannot find it');
  });
  return {
    url: `${origin}/sse`,
    origin,
    received,
    sessions,
    forget() {
      for (const transport of transports.values()) void transport.close();
    },
    stop,
  };
}
