import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { expect, onTestFinished } from 'vitest';
import type { CredentialSource } from '../../../../../src/gateway/credentials/credentials.ts';
import {
  createRemoteBackend,
  type GatewayBackend,
  type RemoteBackendOptions,
} from '../../../../../src/gateway/index.ts';
import { toSdkAuthInfo } from '../../../../../src/mcp/building-blocks.ts';
import type { AuthInfo } from '../../../../../src/oauth/auth-info.ts';
import { createLogger } from '../../../../../src/observability/logger.ts';

/** A JSON-RPC message, as tests look at it. */
export interface Said {
  id?: string | number;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: { reason?: string } };
}

/** A request, as a server of a test has it. */
export interface Asked {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: Said;
}

/** The front's end of the line to a server behind a backend. */
export interface Talk {
  /** @param sender default: the owner of the conversation */
  ask(method: string, params?: Record<string, unknown>, sender?: AuthInfo): Promise<Said>;
  tell(message: Said): void;
  /** What the server said that answers nothing, and to which request it belonged. */
  heard: { message: Said; relatedTo: unknown }[];
  isClosed(): boolean;
  close(): Promise<void>;
}

export const params = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'front', version: '1' },
};

/** Somebody who calls. */
export const callerOf = (subject: string): AuthInfo => ({
  issuer: 'https://gate.example',
  subject,
  clientId: 'client',
  scopes: ['mcp'],
  audience: 'https://gate.example/mcp',
  expiresAt: 9_999_999_999,
});

/** Serves a function on loopback until the test is over. */
export async function serve(
  answer: (asked: Asked, response: ServerResponse) => void,
): Promise<{ origin: string; url: string; asked: Asked[] }> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const { method = '', url = '', headers } = request;
      const one = { method, url, headers, body: text === '' ? {} : (JSON.parse(text) as Said) };
      asked.push(one);
      answer(one, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, url: `${origin}/mcp`, asked };
}

/** Answers with one message in JSON. */
export function json(response: ServerResponse, message: object, headers: Record<string, string> = {}): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ jsonrpc: '2.0', ...message }));
}

/** Answers `initialize`, refuses what 2026-07-28 asks, and takes notifications. @returns whether that was it */
export function begins({ method, body }: Asked, response: ServerResponse, session?: string): boolean {
  if (method !== 'POST') return false;
  if (body.id === undefined || body.method === undefined) response.writeHead(202).end();
  else if (body.method === 'initialize') {
    const result = {
      protocolVersion: '2025-11-25',
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'a', version: '1' },
    };
    json(response, { id: body.id, result }, session === undefined ? {} : { 'mcp-session-id': session });
  } else if (body.method === 'server/discover')
    json(response, { id: body.id, error: { code: -32601, message: 'no' } });
  else return false;
  return true;
}

/** Creates a backend for the time of a test. @param log takes the lines of its log */
export function backendAt(
  options: RemoteBackendOptions,
  credentials?: CredentialSource,
  log?: (line: string) => void,
): GatewayBackend {
  const logger = log ? createLogger('debug', log) : createLogger('silent', () => undefined);
  const backend = createRemoteBackend('There', options, { logger, ...(credentials && { credentials }) });
  onTestFinished(() => backend.close());
  return backend;
}

/** Opens a conversation with the server behind a backend, without `initialize`. */
export async function open(backend: GatewayBackend, subject = 'ada'): Promise<Talk> {
  const server = await backend.source.create({ era: 'legacy', authInfo: callerOf(subject) });
  const waiting = new Map<unknown, (answer: Said) => void>();
  const heard: Talk['heard'] = [];
  let isClosed = false;
  let lastId = 0;
  const transport: Transport = {
    start: async () => undefined,
    close: async () => {
      isClosed = true;
    },
    async send(sent, options) {
      const message = sent as Said;
      if (message.method !== undefined) heard.push({ message, relatedTo: options?.relatedRequestId });
      else waiting.get(message.id)?.(message);
    },
  };
  await server.connect(transport);
  const tell = (message: Said, sender?: AuthInfo): void => {
    const said = { jsonrpc: '2.0', ...message } as JSONRPCMessage;
    transport.onmessage?.(said, sender && { authInfo: toSdkAuthInfo(sender) });
  };
  return {
    heard,
    tell: (message) => tell(message),
    isClosed: () => isClosed,
    close: () => server.close(),
    ask(method, params_ = {}, sender) {
      const id = ++lastId;
      const answer = new Promise<Said>((resolve) => waiting.set(id, resolve));
      tell({ id, method, params: params_ }, sender);
      return answer;
    },
  };
}

/** Opens a conversation, and has it begun. */
export async function begin(backend: GatewayBackend, subject = 'ada'): Promise<Talk> {
  const talk = await open(backend, subject);
  const { error } = await talk.ask('initialize', params);
  expect(error).toBeUndefined();
  talk.tell({ method: 'notifications/initialized' });
  return talk;
}
