import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { McpServer } from '@modelcontextprotocol/server';
import { onTestFinished } from 'vitest';
import { createSealedBox } from '../../../src/crypto/sealed-box.ts';
import { withPreflight } from '../../../src/mcp/http/dispatch.ts';
import { HeldBytes } from '../../../src/mcp/http/held-bytes.ts';
import { createCallLimit, createStreamLimit } from '../../../src/mcp/http/limits.ts';
import { createPulse, NodeReply } from '../../../src/mcp/http/node-reply.ts';
import { sendRefusal } from '../../../src/mcp/http/refusal.ts';
import {
  createStreamableHttp2026,
  type StreamableHttp2026Options,
} from '../../../src/mcp/modern/streamable-http.ts';
import type { Seal, ServerContext, ServerSource } from '../../../src/mcp/protocol.ts';
import { createServedMethods } from '../../../src/mcp/reading/methods.ts';
import { createScopeGate } from '../../../src/mcp/scopes/scope-gate.ts';
import { createConversations } from '../../../src/mcp/sdk/conversations.ts';
import { createWriteBatcher } from '../../../src/net/write-batcher.ts';
import type { AuthInfo } from '../../../src/oauth/auth-info.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { modernRequest } from './gate.ts';

/** A transport of 2026-07-28 on a real socket. Who calls stands in the header `x-subject`. */
export interface ModernEndpoint {
  url: string;
  /** Sends one request by hand; headers given as undefined are left out. */
  send(subject: string, request: ModernSend): Promise<Response>;
  /** Calls a method the way of 2026-07-28. */
  call(subject: string, method: string, params?: Record<string, unknown>, id?: number): Promise<Response>;
  /** Connects the SDK's client, version 2. */
  connect(subject: string, options?: ConstructorParameters<typeof Client>[1]): Promise<Client>;
  /** Ends the access of a subject whose streams are open. */
  revoke(subject: string): void;
  close(): Promise<void>;
}

/** A request by hand. */
export interface ModernSend {
  headers?: Record<string, string | undefined>;
  json?: unknown;
  signal?: AbortSignal;
}

/** Lists 2026-07-28, so that one server answers all callers. */
export const modernVersions = { supportedProtocolVersions: ['2026-07-28', '2025-11-25'] };

/** One server for all callers, with what `register` puts into it. */
export function oneServer(register: (server: McpServer) => void): ServerSource {
  return { sharing: 'shared', create: () => createTestServer(register) };
}

/** A server for each request. */
export function serverEach(register: (server: McpServer, context: ServerContext) => void): ServerSource {
  return { sharing: 'each', create: (context) => createTestServer((server) => register(server, context)) };
}

/** An MCP server that speaks 2026-07-28 and can log and be subscribed to. */
export function createTestServer(register: (server: McpServer) => void): McpServer {
  const capabilities = { logging: {}, resources: { subscribe: true, listChanged: true } };
  const server = new McpServer({ name: 'test', version: '1.0.0' }, { ...modernVersions, capabilities });
  register(server);
  return server;
}

/** Seals as the product does. */
export function createTestSeal(): Seal {
  const box = createSealedBox([{ id: 'k', key: Buffer.alloc(32, 7).toString('base64url') }]);
  return {
    seal: (text, context) => box.seal(text, context).toString('base64url'),
    open(sealed, context) {
      try {
        return box.open(Buffer.from(sealed, 'base64url'), context);
      } catch {
        return undefined;
      }
    },
  };
}

/** Starts an endpoint for one test, and stops it after. */
export async function startModern(
  source: ServerSource,
  options: Partial<StreamableHttp2026Options> = {},
): Promise<ModernEndpoint> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const url = `${origin}/mcp`;
  const resourceMetadataUrl = `${origin}/.well-known/oauth-protected-resource/mcp`;
  const watched = new Set<{ subject: string; onEnd: () => void }>();
  const logger = createLogger('silent');
  const conversations = createConversations({ source, logger });
  const transport = createStreamableHttp2026({
    source,
    conversations,
    declareExtensions: (result) => result,
    served: createServedMethods(),
    url: new URL(url),
    gate: createScopeGate({}, resourceMetadataUrl),
    calls: createCallLimit(1000),
    accessWatch: {
      watch({ subject }, onEnd) {
        const entry = { subject, onEnd };
        watched.add(entry);
        return () => watched.delete(entry);
      },
    },
    seal: createTestSeal(),
    streams: createStreamLimit(16, 10_000),
    streamAfterMs: 15_000,
    now: () => Math.floor(Date.now() / 1000),
    logger,
    ...options,
  });
  const pulse = createPulse(10_000);
  const sendTogether = createWriteBatcher();
  const serve = withPreflight(
    {
      checkMethod: () => undefined,
      checkAccept: () => undefined,
      body: { maxBytes: 1_000_000, isRelayed: false },
    },
    async (exchange, posted) => (posted ? transport.serve(exchange, posted) : undefined),
  );
  server.on('request', async (req, res) => {
    const reply = new NodeReply(res, pulse, sendTogether, { held: new HeldBytes() });
    const scopes = String(req.headers['x-scopes'] ?? 'notes:read').split(' ');
    const subject = String(req.headers['x-subject']);
    const authInfo: AuthInfo = {
      issuer: 'https://example.com',
      subject,
      clientId: 'client-1',
      scopes,
      audience: url,
      expiresAt: Math.floor(Date.now() / 1000) + 3600,
    };
    const { method = '', headers } = req;
    try {
      const refusal = await serve({ method, headers, query: '', body: req, authInfo, reply });
      if (refusal) sendRefusal(refusal, reply);
    } catch (error) {
      if (!reply.isBegun) reply.json(500, { error: String(error) });
    }
  });
  onTestFinished(async () => {
    await transport.close();
    await conversations.close();
    server.closeAllConnections();
    server.close();
  });

  const endpoint: ModernEndpoint = {
    url,
    send(subject, { headers = {}, json, signal }) {
      const given = { accept: 'application/json, text/event-stream', ...headers, 'x-subject': subject };
      const sent = Object.entries({ 'content-type': 'application/json', ...given });
      return fetch(url, {
        method: 'POST',
        headers: sent.filter((entry): entry is [string, string] => entry[1] !== undefined),
        body: JSON.stringify(json),
        ...(signal ? { signal } : {}),
      });
    },
    call: (subject, method, params = {}, id = 1) => endpoint.send(subject, modernRequest(method, params, id)),
    async connect(subject, clientOptions = {}) {
      const versionNegotiation = { mode: { pin: '2026-07-28' } } as const;
      const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation, ...clientOptions });
      const requestInit = { headers: { 'x-subject': subject } };
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
      onTestFinished(() => client.close());
      return client;
    },
    revoke(subject) {
      for (const entry of watched) if (entry.subject === subject) entry.onEnd();
    },
    close: () => transport.close(),
  };
  return endpoint;
}
