import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import {
  createMcpHandler,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { createConformanceServer } from '../conformance-server/server.ts';

/** An MCP server on a free port of loopback. */
export interface HostedServer {
  url: string;
  stop(): Promise<void>;
}

async function host(
  path: string,
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<HostedServer> {
  const http = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}${path}`,
    async stop() {
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };
}

async function toWeb(request: IncomingMessage): Promise<Request> {
  const { method = 'GET' } = request;
  const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [
    name,
    String(value),
  ]);
  const body = method === 'POST' ? { body: await buffer(request) } : {};
  return new Request(`http://localhost${request.url}`, { method, headers, ...body });
}

async function send(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.flushHeaders();
  if (!answer.body) response.end();
  else await pipeline(Readable.fromWeb(answer.body as ReadableStream), response);
}

/** Hosts a server for each session, by Streamable HTTP up to 2025-11-25. */
export function hostStreamableHttp(create: () => McpServer): Promise<HostedServer> {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  return host('/mcp', async (incoming, response) => {
    const request = await toWeb(incoming);
    const known = sessions.get(request.headers.get('mcp-session-id') ?? '');
    if (known) return send(await known.handleRequest(request), response);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        sessions.set(id, transport);
      },
      onsessionclosed: (id) => {
        sessions.delete(id);
      },
    });
    await create().connect(transport);
    return send(await transport.handleRequest(request), response);
  });
}

/** Hosts a server for each connection, by HTTP+SSE of 2024-11-05. */
export function hostSse(create: () => McpServer): Promise<HostedServer> {
  const connections = new Map<string, SSEServerTransport>();
  return host('/sse', async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
    if (pathname === '/messages') {
      await connections.get(searchParams.get('sessionId') ?? '')?.handlePostMessage(request, response);
      return;
    }
    const transport = new SSEServerTransport('/messages', response);
    connections.set(transport.sessionId, transport);
    await create().connect(transport);
  });
}

/** Hosts a server that speaks 2026-07-28 and nothing else. */
export function hostModern(): Promise<HostedServer> {
  const handler = createMcpHandler(() => createConformanceServer({ era: 'modern' }), { legacy: 'reject' });
  return host('/mcp', async (incoming, response) => {
    await send(await handler.fetch(await toWeb(incoming)), response);
  });
}
