// SDK version 1 over its Express app: node sdk1.ts session|stateless|open; `open` has sessions and asks for no token
import { randomUUID } from 'node:crypto';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { port, requiredScopes, verifier } from './token-check.ts';

function createEcho(): McpServer {
  const server = new McpServer({ name: 'echo', version: '1.0.0' });
  server.registerTool(
    'echo',
    { description: 'echo', inputSchema: { text: z.string() } },
    async ({ text }) => ({ content: [{ type: 'text', text }] }),
  );
  return server;
}

async function answerAlone(request: Request, response: Response): Promise<void> {
  const server = createEcho();
  const transport = new StreamableHTTPServerTransport({});
  await server.connect(transport);
  response.on('close', () => {
    void transport.close();
    void server.close();
  });
  await transport.handleRequest(request, response, request.body);
}

const sessions = new Map<string, StreamableHTTPServerTransport>();

async function openTransport(): Promise<StreamableHTTPServerTransport> {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (id) => void sessions.set(id, transport),
  });
  transport.onclose = () => void sessions.delete(transport.sessionId ?? '');
  await createEcho().connect(transport);
  return transport;
}

async function answerInSession(request: Request, response: Response): Promise<void> {
  const id = request.headers['mcp-session-id'];
  const transport = id === undefined ? await openTransport() : sessions.get(String(id));
  if (transport) await transport.handleRequest(request, response, request.body);
  else response.status(404).end();
}

const app = createMcpExpressApp();
const [, , variant] = process.argv;
if (variant !== 'open') app.use('/mcp', requireBearerAuth({ verifier, requiredScopes }));
app.all('/mcp', variant === 'stateless' ? answerAlone : answerInSession);
app.listen(port, '127.0.0.1');
