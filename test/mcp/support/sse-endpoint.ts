import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { readBody } from '../../../src/mcp/http/dispatch.ts';
import type { AccessWatch, Posted, Renewal } from '../../../src/mcp/http/exchange.ts';
import { HeldBytes } from '../../../src/mcp/http/held-bytes.ts';
import { createCallLimit } from '../../../src/mcp/http/limits.ts';
import { createPulse, NodeReply } from '../../../src/mcp/http/node-reply.ts';
import { isRefusal, type Refusal, sendRefusal } from '../../../src/mcp/http/refusal.ts';
import { createSseTransport } from '../../../src/mcp/legacy/sse.ts';
import { parseJson } from '../../../src/mcp/reading/json.ts';
import { readMessages } from '../../../src/mcp/reading/messages.ts';
import { createScopeGate } from '../../../src/mcp/scopes/scope-gate.ts';
import type { ScopeRules } from '../../../src/mcp/scopes/scope-rules.ts';
import { createConversations } from '../../../src/mcp/sdk/conversations.ts';
import { fromFactory, type ServerFactory } from '../../../src/mcp/sdk/server-factory.ts';
import { createWriteBatcher } from '../../../src/net/write-batcher.ts';
import type { AuthInfo } from '../../../src/oauth/auth-info.ts';
import { createLogger } from '../../../src/observability/logger.ts';

/** The HTTP+SSE transport alone, on a real socket. A bearer is `account` or `account:expiresAt`, and all are good. */
export interface SseEndpoint {
  url: URL;
  /** Accesses that are watched. */
  watched: Set<{ authInfo: AuthInfo; onEnd: () => void; renewal?: Renewal }>;
  /** Streams that are counted. */
  open: string[];
  log: string[];
  close(): Promise<void>;
}

/** What a test chooses. */
export interface SseEndpointOptions {
  idleMs?: number;
  keepAliveMs?: number;
  maxStreams?: number;
  maxCalls?: number;
  rules?: ScopeRules;
  sharing?: 'each' | 'shared';
  /** A path in front of `/sse` and `/messages`, as behind a proxy. */
  publicPath?: string;
}

function callerIn({ headers }: IncomingMessage): AuthInfo {
  const [, subject = '', expiresAt = '4000000000'] =
    /^Bearer ([^:]+):?(\d*)$/.exec(headers.authorization ?? '') ?? [];
  return {
    issuer: 'https://a.example',
    subject,
    clientId: 'client-1',
    scopes: ['suite:run'],
    audience: 'https://a.example/mcp',
    expiresAt: Number(expiresAt || '4000000000'),
  };
}

async function readPosted(req: IncomingMessage): Promise<Posted | Refusal> {
  const bytes = await readBody(req, req.headers['content-length'], 4 * 1024 * 1024);
  if (isRefusal(bytes)) return bytes;
  const json = parseJson(bytes);
  if (isRefusal(json)) return json;
  const messages = readMessages(json.value);
  return isRefusal(messages) ? messages : { value: json.value, messages };
}

/** Starts one for a test, and stops it after. */
export async function startSseEndpoint(
  factory: ServerFactory,
  { idleMs, keepAliveMs = 20_000, maxStreams = 10, maxCalls = 100, ...options }: SseEndpointOptions = {},
): Promise<SseEndpoint> {
  const { rules = {}, publicPath = '', sharing = 'each' } = options;
  const http = createServer();
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const resourceMetadataUrl = `${origin}/.well-known/oauth-protected-resource/mcp`;
  const log: string[] = [];
  const logger = createLogger('debug', (line) => log.push(line));
  const watched: SseEndpoint['watched'] = new Set();
  const accessWatch: AccessWatch = {
    watch(authInfo, onEnd, renewal) {
      const entry = { authInfo, onEnd, ...(renewal && { renewal }) };
      watched.add(entry);
      return () => watched.delete(entry);
    },
  };
  const open: string[] = [];
  const conversations = createConversations({
    source: fromFactory(factory, sharing),
    logger,
  });
  const transport = createSseTransport({
    conversations,
    postUrl: new URL(`${publicPath}/messages`, origin),
    gate: createScopeGate(rules, resourceMetadataUrl),
    accessWatch,
    streams: {
      begin(principal) {
        if (open.length >= maxStreams) return { reason: 'too_many_sessions' };
        open.push(principal);
        return undefined;
      },
      end: (principal) => void open.splice(open.indexOf(principal), 1),
    },
    calls: createCallLimit(maxCalls),
    ...(idleMs === undefined ? {} : { idleMs }),
    logger,
  });
  const pulse = createPulse(keepAliveMs);
  const sendTogether = createWriteBatcher();

  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const { pathname, search } = new URL(req.url ?? '', origin);
    const reply = new NodeReply(res, pulse, sendTogether, { held: new HeldBytes() });
    const { method = '', headers } = req;
    const exchange = { method, headers, query: search.slice(1), body: req, authInfo: callerIn(req), reply };
    const posted = method === 'POST' ? await readPosted(req) : undefined;
    const refusal = isRefusal(posted)
      ? posted
      : await (pathname === `${publicPath}/sse`
          ? transport.open(exchange)
          : transport.post(exchange, posted));
    if (refusal) sendRefusal(refusal, reply);
  };
  http.on('request', (req, res) => void answer(req, res));
  const close = async (): Promise<void> => {
    await transport.close();
    await conversations.close();
  };
  onTestFinished(async () => {
    await close();
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  });
  return { url: new URL(`${publicPath}/sse`, origin), watched, open, log, close };
}
