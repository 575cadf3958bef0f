import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { onTestFinished } from 'vitest';
import { z } from 'zod';

/** A real MCP server made with SDK v1, on loopback. */
export interface SdkServer {
  url: string;
  /** `POST initialize` and so on, of every request in order. */
  asked: string[];
  /** Forgets every session, as a restart does; streams are cut. */
  forget(): void;
  /** The servers of the sessions that are alive. */
  sessions: McpServer[];
  stop(): Promise<void>;
}

/** Makes the server of each session. */
export type MakeServer = () => McpServer;

/** A server with the tool `echo`, which gives its text back, and a resource that can be subscribed to. */
export function echoServer(): McpServer {
  const server = new McpServer(
    { name: 'echo', version: '1' },
    { capabilities: { logging: {}, resources: { subscribe: true } } },
  );
  server.registerTool('echo', { inputSchema: { text: z.string() } }, ({ text }) => ({
    content: [{ type: 'text', text }],
  }));
  return server;
}

async function listen(
  handle: (request: IncomingMessage, response: ServerResponse, body: unknown) => Promise<void>,
  asked: string[],
  port = 0,
): Promise<{ server: Server; origin: string }> {
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const body = text === '' ? undefined : (JSON.parse(text) as { method?: string });
    asked.push(`${request.method} ${body?.method ?? ''}`.trim());
    await handle(request, response, body).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

/**
 * Starts a streamable HTTP server with sessions.
 * @param lost how it answers what belongs to a session it does not know
 * @param port the port to listen on, for one that comes back
 */
export async function startSessionServer(
  make: MakeServer = echoServer,
  lost: { status: number; message: string } = { status: 404, message: 'Session not found' },
  port = 0,
): Promise<SdkServer> {
  const transports = new Map<string, StreamableHTTPServerTransport>();
  const sessions: McpServer[] = [];
  const asked: string[] = [];
  const { server, origin } = await listen(
    async (request, response, body) => {
      const id = request.headers['mcp-session-id'];
      const known = typeof id === 'string' ? transports.get(id) : undefined;
      if (known) return known.handleRequest(request, response, body);
      const isInitialize = (body as { method?: string } | undefined)?.method === 'initialize';
      if (id !== undefined || !isInitialize) {
        const { status, message } = id === undefined ? { status: 400, message: 'Initialize first' } : lost;
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32000, message }, id: null }));
        return;
      }
      const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (session) => void transports.set(session, transport),
        onsessionclosed: (session) => void transports.delete(session),
      });
      const mcp = make();
      sessions.push(mcp);
      await mcp.connect(transport as Parameters<McpServer['connect']>[0]);
      await transport.handleRequest(request, response, body);
    },
    asked,
    port,
  );
  const forget = (): void => {
    for (const transport of transports.values()) void transport.close();
    transports.clear();
    sessions.length = 0;
  };
  const started = { url: `${origin}/mcp`, asked, forget, sessions, stop: () => stop(server) };
  onTestFinished(async () => {
    forget();
    await stop(server);
  });
  return started;
}

/** Starts a server of the old HTTP+SSE transport, its stream at `/sse`. */
export async function startEventStreamServer(make: MakeServer = echoServer): Promise<SdkServer> {
  const transports = new Map<string, SSEServerTransport>();
  const sessions: McpServer[] = [];
  const asked: string[] = [];
  const { server, origin } = await listen(async (request, response, body) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://test');
    if (request.method === 'GET' && pathname === '/sse') {
      const transport = new SSEServerTransport('/messages', response);
      transports.set(transport.sessionId, transport);
      const mcp = make();
      sessions.push(mcp);
      await mcp.connect(transport);
      return;
    }
    const known = transports.get(searchParams.get('sessionId') ?? '');
    if (request.method === 'POST' && pathname === '/messages' && known)
      return known.handlePostMessage(request, response, body);
    response.writeHead(pathname === '/sse' ? 405 : 404).end();
  }, asked);
  const forget = (): void => {
    for (const transport of transports.values()) void transport.close();
    transports.clear();
    sessions.length = 0;
  };
  onTestFinished(async () => {
    forget();
    await stop(server);
  });
  return { url: `${origin}/sse`, asked, forget, sessions, stop: () => stop(server) };
}
