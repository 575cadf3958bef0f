// SDK version 2 behind each of its adapters: node sdk2.ts node|express|hono|fastify|session
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { serve } from '@hono/node-server';
import { createMcpExpressApp, requireBearerAuth } from '@modelcontextprotocol/express';
import { createMcpFastifyApp } from '@modelcontextprotocol/fastify';
import { createMcpHonoApp } from '@modelcontextprotocol/hono';
import {
  localhostHostValidation,
  localhostOriginValidation,
  NodeStreamableHTTPServerTransport,
  toNodeHandler,
} from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  McpServer,
  requireBearerAuth as requireBearer,
  verifyBearerToken,
} from '@modelcontextprotocol/server';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { port, requiredScopes, verifier } from './token-check.ts';

const inputSchema = z.object({ text: z.string() });

function createEcho(): McpServer {
  const server = new McpServer({ name: 'echo', version: '1.0.0' });
  server.registerTool('echo', { description: 'echo', inputSchema }, async ({ text }) => ({
    content: [{ type: 'text', text }],
  }));
  return server;
}

const handler = createMcpHandler(createEcho);
const policy = { verifier, requiredScopes };

function serveNode(): void {
  const gate = requireBearer(policy);
  const answer = toNodeHandler({
    async fetch(request) {
      const authInfo = await gate(request);
      return authInfo instanceof globalThis.Response ? authInfo : handler.fetch(request, { authInfo });
    },
  });
  const [validHost, validOrigin] = [localhostHostValidation(), localhostOriginValidation()];
  createServer((request, response) => {
    if (validHost(request, response) && validOrigin(request, response)) void answer(request, response);
  }).listen(port, '127.0.0.1', 4096);
}

function serveExpress(): void {
  const answer = toNodeHandler(handler);
  const app = createMcpExpressApp();
  app.all('/mcp', requireBearerAuth(policy), (request: Request, response: Response) => {
    void answer(request, response, request.body);
  });
  app.listen(port, '127.0.0.1');
}

function serveHono(): void {
  const gate = requireBearer(policy);
  const app = createMcpHonoApp();
  app.all('/mcp', async (context) => {
    const authInfo = await gate(context.req.raw);
    if (authInfo instanceof globalThis.Response) return authInfo;
    const parsedBody: unknown = context.get('parsedBody' as never);
    return handler.fetch(context.req.raw, { authInfo, parsedBody });
  });
  serve({ fetch: app.fetch, port, hostname: '127.0.0.1' });
}

async function serveFastify(): Promise<void> {
  const answer = toNodeHandler(handler);
  const app = createMcpFastifyApp();
  app.all('/mcp', async (request, reply) => {
    const auth = await verifyBearerToken(request.headers.authorization ?? null, policy);
    reply.hijack();
    await answer(Object.assign(request.raw, { auth }), reply.raw, request.body);
  });
  await app.listen({ port, host: '127.0.0.1' });
}

function serveSessions(): void {
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  const open = async (): Promise<NodeStreamableHTTPServerTransport> => {
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    transport.onclose = () => void sessions.delete(transport.sessionId ?? '');
    await createEcho().connect(transport);
    return transport;
  };
  const app = createMcpExpressApp();
  app.use('/mcp', requireBearerAuth(policy));
  app.all('/mcp', async (request: Request, response: Response) => {
    const id = request.headers['mcp-session-id'];
    const transport = id === undefined ? await open() : sessions.get(String(id));
    if (transport) await transport.handleRequest(request, response, request.body);
    else response.status(404).end();
  });
  app.listen(port, '127.0.0.1');
}

const adapters: Record<string, () => unknown> = {
  node: serveNode,
  express: serveExpress,
  hono: serveHono,
  fastify: serveFastify,
  session: serveSessions,
};
await adapters[process.argv[2] ?? '']?.();
