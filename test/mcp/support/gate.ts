import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import Koa from 'koa';
import { onTestFinished } from 'vitest';
import { createSealedBox, createTextSeal } from '../../../src/crypto/sealed-box.ts';
import type { AccessWatch } from '../../../src/mcp/http/exchange.ts';
import {
  createMcpEndpoint,
  createSessionsInUse,
  type McpEndpoint,
  type McpEndpointOptions,
  type ServerSource,
  type SessionLimits,
  type SessionsInUse,
} from '../../../src/mcp/index.ts';
import { createNotesServer, notesScopeRules } from '../../../src/mcp/notes/server.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { createLocalVerifier, createRequireBearer } from '../../../src/resource-server/index.ts';
import type { AccessTokenRecord } from '../../../src/resource-server/token-verifier.ts';
import type { McpSessionStore } from '../../../src/storage/mcp-sessions.ts';
import { openSqliteStorage } from '../../../src/storage/sqlite/index.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { createMemoryNotes } from './note-store.ts';

/** An MCP endpoint behind the bearer check, on a real socket. */
export interface Gate {
  url: string;
  /** Issued tokens by value. */
  tokens: Map<string, AccessTokenRecord>;
  /** Issues a token for an account; everything about it can be chosen. */
  issue(subject: string, chosen?: Partial<AccessTokenRecord>): string;
  /** Sends one HTTP request as a client of the streamable HTTP transport would. */
  send(token: string | undefined, init?: GateRequest): Promise<Response>;
  /** Opens a session by hand; gives its id. */
  initialize(token: string, protocolVersion?: string): Promise<string>;
  /** Calls a JSON-RPC method within a session; gives the message that answers it. */
  call(token: string, session: string, method: string, params?: unknown, id?: unknown): Promise<RpcAnswer>;
  /** Calls a method the way of 2026-07-28. */
  callModern(token: string, method: string, params?: Record<string, unknown>): Promise<Response>;
  /** Connects the SDK's client, version 2. */
  connect(token: string, era?: 'legacy' | 'modern'): Promise<Client>;
  /** Moves the clock. */
  passTime(seconds: number): void;
  /** Closes the endpoint, after patience with running calls where some is given; the HTTP server goes on. */
  close(patienceMs?: number): Promise<void>;
  /** Breaks off all connections and begins anew over the same database, as a process that was killed. */
  restart(): Promise<void>;
  /**
   * Serves with a new endpoint over the same storage at once, as after a reload of the settings.
   * @returns resolves once the old endpoint is closed, after patience with running calls
   */
  replace(patienceMs: number): Promise<void>;
  /** Revokes a token, and ends what watches access. */
  revoke(token: string): void;
}

interface Opened {
  storage: Storage;
  sessionsInUse: SessionsInUse;
  endpoint: McpEndpoint;
}

/** Limits of sessions unless a test chooses others. */
export const defaultSessionLimits: SessionLimits = {
  maxPerPrincipal: 100,
  maxTotal: 10_000,
  idleSeconds: 1800,
  maxEvents: 1000,
  maxBytes: 1_000_000,
  eventSeconds: 3600,
};

/** A watch of access that a test ends by hand. */
function createTestAccess(): AccessWatch & { end(): void } {
  const watching = new Set<() => void>();
  return {
    watch(_authInfo, onEnd) {
      watching.add(onEnd);
      return () => watching.delete(onEnd);
    },
    end() {
      for (const onEnd of [...watching]) onEnd();
    },
  };
}

/** One request; `json` is sent as JSON, `body` as it is. */
export interface GateRequest {
  method?: string;
  headers?: Record<string, string>;
  json?: unknown;
  body?: RequestInit['body'];
  signal?: AbortSignal;
}

/** The members of a JSON-RPC answer tests look at. */
export interface RpcAnswer {
  id?: unknown;
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: unknown };
}

/** The scopes a token has unless a test chooses others. */
export const allScopes = ['notes:read', 'notes:write'];

/** What of a gate a test may choose. */
export type GateOptions = Partial<McpEndpointOptions> & {
  source?: ServerSource;
  /** Puts something of a test's own in front of the storage. */
  wrapStore?: (store: McpSessionStore) => McpSessionStore;
};

/** Starts a gate for one test, and stops it after. Its sessions are kept in a real database. */
export async function startGate({
  wrapStore = (store) => store,
  ...options
}: GateOptions = {}): Promise<Gate> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const url = `${origin}/mcp`;
  const resourceMetadataUrl = `${origin}/.well-known/oauth-protected-resource/mcp`;
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-gate-'));

  let clock = Math.floor(Date.now() / 1000);
  const now = (): number => clock;
  const tokens = new Map<string, AccessTokenRecord>();
  const verifier = createLocalVerifier({
    source: { find: async (token) => tokens.get(token) },
    issuer: origin,
    now,
  });
  const access = createTestAccess();
  const box = createSealedBox([{ id: 'k', key: randomBytes(32).toString('base64url') }]);

  const open = (before?: Opened): Opened => {
    const storage = before?.storage ?? openSqliteStorage(join(folder, 'gate.db'));
    const sessionsInUse = before?.sessionsInUse ?? createSessionsInUse();
    const endpoint = createMcpEndpoint({
      source: createNotesServer({ notes: createMemoryNotes(), now }),
      scopeRules: notesScopeRules,
      urls: {
        mcp: new URL(url),
        sse: new URL(`${origin}/sse`),
        messages: new URL(`${origin}/messages`),
        rest: new URL(`${origin}/rest`),
      },
      maxBodyBytes: 4 * 1024 * 1024,
      sessions: 'stored',
      sessionLimits: defaultSessionLimits,
      principalLimits: { maxCallsPerPrincipal: 1000, maxStreamsPerPrincipal: 16 },
      store: wrapStore(storage.mcpSessions),
      sessionsInUse,
      access,
      seal: createTextSeal(box),
      streamAfterMs: 30,
      now,
      logger: createLogger('silent'),
      ...options,
    });
    return { storage, sessionsInUse, endpoint };
  };
  let opened = open();

  const app = new Koa();
  app.silent = true;
  app.use(
    createRequireBearer({ verifier, resource: url, resourceMetadataUrl, baselineScopes: ['notes:read'] }),
  );
  app.use((ctx, next) => {
    const { endpoint } = opened;
    if (ctx.path === '/sse') return endpoint.sse(ctx, next);
    if (ctx.path === '/messages') return endpoint.messages(ctx, next);
    if (ctx.path === '/rest') return endpoint.rest(ctx, next);
    return endpoint.middleware(ctx, next);
  });
  server.on('request', app.callback());
  onTestFinished(async () => {
    await opened.endpoint.close();
    server.closeAllConnections();
    server.close();
    await opened.storage.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const gate: Gate = {
    url,
    tokens,
    issue(subject, chosen = {}) {
      const token = randomUUID();
      tokens.set(token, {
        clientId: 'client-1',
        subject,
        scopes: allScopes,
        audience: url,
        issuedAt: clock,
        expiresAt: clock + 3600,
        ...chosen,
      });
      return token;
    },
    send(token, { method = 'POST', headers = {}, json, body, signal } = {}) {
      return fetch(url, {
        method,
        headers: {
          accept: 'application/json, text/event-stream',
          ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...headers,
        },
        ...(method === 'POST' ? { body: body ?? JSON.stringify(json), duplex: 'half' } : {}),
        ...(signal ? { signal } : {}),
      });
    },
    async initialize(token, protocolVersion = '2025-11-25') {
      const response = await gate.send(token, { json: initializeRequest(protocolVersion) });
      await response.text();
      return response.headers.get('mcp-session-id') ?? '';
    },
    async call(token, session, method, params = {}, id = 1) {
      const response = await gate.send(token, {
        headers: { 'mcp-session-id': session },
        json: { jsonrpc: '2.0', id, method, params },
      });
      return readAnswer(response);
    },
    callModern(token, method, params = {}) {
      return gate.send(token, modernRequest(method, params));
    },
    async connect(token, era = 'legacy') {
      const client = new Client(
        { name: 'test', version: '1.0.0' },
        era === 'modern' ? { versionNegotiation: { mode: { pin: '2026-07-28' } } } : {},
      );
      const transport = new StreamableHTTPClientTransport(new URL(url), {
        requestInit: { headers: { authorization: `Bearer ${token}` } },
      });
      await client.connect(transport);
      onTestFinished(() => client.close());
      return client;
    },
    passTime(seconds) {
      clock += seconds;
    },
    close: (patienceMs) => opened.endpoint.close(patienceMs),
    async restart() {
      const { endpoint, storage } = opened;
      // The old process is gone with its connections before it can say anything to them.
      server.closeAllConnections();
      opened = open();
      await endpoint.close();
      await storage.close();
      // Clients learn of it in a moment of their own.
      await sleep(20);
    },
    replace(patienceMs) {
      const { endpoint } = opened;
      opened = open(opened);
      return endpoint.close(patienceMs);
    },
    revoke(token) {
      tokens.delete(token);
      access.end();
    },
  };
  return gate;
}

/** The first message of a session. */
export function initializeRequest(protocolVersion = '2025-11-25') {
  return {
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1.0.0' } },
  };
}

/** A request the way of 2026-07-28, headers included. */
export function modernRequest(method: string, params: Record<string, unknown> = {}, id = 1): GateRequest {
  const name = params.name ?? params.uri;
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
  };
  return {
    headers: {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
    },
    json: { jsonrpc: '2.0', id, method, params: { ...params, _meta } },
  };
}

/** The JSON-RPC messages of an answer, JSON or event stream. */
export async function readAnswers(response: Response): Promise<RpcAnswer[]> {
  const text = await response.text();
  if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
    return [JSON.parse(text)].flat();
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)));
}

/** The one JSON-RPC message that answers a request. */
export async function readAnswer(response: Response): Promise<RpcAnswer> {
  const [answer, ...more] = await readAnswers(response);
  if (!answer || more.length > 0) throw new Error(`expected one message, got ${more.length + 1}`);
  return answer;
}
