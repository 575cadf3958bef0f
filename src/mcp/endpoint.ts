import { Readable } from 'node:stream';
import type { Context, Middleware } from 'koa';
import type { AuthInfo } from '../oauth/auth-info.ts';
import { wellKnown } from '../oauth/well-known.ts';
import { type Logger, loggable } from '../observability/logger.ts';
import { checkContentLength } from './checks/body-headers.ts';
import { createDispatch } from './dispatch.ts';
import type { Answer } from './exchange.ts';
import { createLegacyEra } from './legacy.ts';
import { createModernEra } from './modern.ts';
import { isRefusal, type Refusal, refusalResponse } from './refusal.ts';
import { createScopeGate, type ScopeRules } from './scope-rules.ts';
import type { McpServerSource } from './server-source.ts';
import type { SessionLimits } from './sessions.ts';
import { cutOffWhenStalled } from './stall.ts';

/** What an MCP endpoint is made of. */
export interface McpEndpointOptions {
  /** Makes the MCP server for a session or a request. */
  server: McpServerSource;
  /** Which scopes tools, prompts and resources need. */
  scopeRules: ScopeRules;
  /** Where the metadata of the protected resource stands; goes into challenges. */
  resourceMetadataUrl: string;
  /** Largest request body; 4 MiB by default. */
  maxBodyBytes?: number;
  /** 100 a principal, 10,000 in total and half an hour idle by default. */
  sessions?: SessionLimits;
  /** Pause between comments on an open stream, in milliseconds; 20 s by default. */
  keepAliveMs?: number;
  /** Epoch seconds. */
  now: () => number;
  logger: Logger;
}

/** An MCP endpoint. */
export interface McpEndpoint {
  /** Serves one path, every method. Who calls stands on `ctx.state.authInfo`. */
  middleware: Middleware;
  /** Refuses an announced body over the limit. Stands before the bearer check, so that nobody's flood is read (T-134). */
  refuseOversized: Middleware;
  /** Ends all sessions and streams. */
  close(): Promise<void>;
}

const defaultSessions: SessionLimits = { maxPerPrincipal: 100, maxTotal: 10_000, idleSeconds: 1800 };

/** Longest time a client may take nothing of a stream, in milliseconds. */
const stallMs = 30_000;

/**
 * Creates the MCP endpoint: every revision from 2025-03-26 to 2026-07-28 on one path. It never sees a token; put the
 * bearer check in front of it, and the checks of Host and Origin.
 * @see MCP transports "Streamable HTTP"
 */
export function createMcpEndpoint(options: McpEndpointOptions): McpEndpoint {
  const { server, resourceMetadataUrl, now, logger } = options;
  const { maxBodyBytes = 4 * 1024 * 1024, sessions = defaultSessions, keepAliveMs = 20_000 } = options;
  const url = new URL(resourceMetadataUrl.replace(wellKnown.protectedResource, ''));
  const common = { source: server, url, resourceMetadataUrl, keepAliveMs, now, logger };
  const legacy = createLegacyEra({ ...common, limits: sessions });
  const modern = createModernEra(common);
  const gate = createScopeGate(options.scopeRules);
  const dispatch = createDispatch({ legacy, modern, gate, url, resourceMetadataUrl, maxBodyBytes });
  let closing = false;

  const answer = async (ctx: Context, authInfo: AuthInfo): Promise<Answer | Refusal> => {
    if (closing) return { reason: 'closing', headers: { 'Retry-After': '5' } };
    const gone = new AbortController();
    ctx.res.once('close', () => gone.abort());
    const { method, req } = ctx;
    return dispatch({ method, headers: req.headers, body: req, authInfo, gone: gone.signal });
  };

  return {
    async refuseOversized(ctx, next) {
      const refusal = checkContentLength(ctx.req.headers['content-length'], maxBodyBytes);
      return refusal ? sendAnswer(ctx, { response: refusalResponse(refusal) }) : next();
    },
    async middleware(ctx) {
      if (ctx.method === 'OPTIONS') {
        ctx.status = 204;
        ctx.set('Allow', 'GET, POST, DELETE, OPTIONS');
        return;
      }
      const authInfo: AuthInfo | undefined = ctx.state.authInfo;
      if (!authInfo)
        throw new Error('Nobody was identified: put the bearer check in front of the MCP endpoint.');
      const result = await answer(ctx, authInfo);
      if (!isRefusal(result)) return sendAnswer(ctx, result);
      const { clientId } = authInfo;
      logger.debug({ reason: result.reason, client: loggable(clientId) }, 'an MCP request was refused');
      return sendAnswer(ctx, { response: refusalResponse(result) });
    },
    async close() {
      closing = true;
      await Promise.all([legacy.close(), modern.close()]);
    },
  };
}

/** Headers Koa and Node set themselves. */
const hopByHop = new Set(['connection', 'transfer-encoding', 'content-length']);

async function sendAnswer(ctx: Context, { response, ended }: Answer): Promise<void> {
  if (response.headers.get('connection') === 'close') ctx.set('Connection', 'close');
  for (const [name, value] of response.headers) if (!hopByHop.has(name)) ctx.set(name, value);
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (!isStream || !response.body) {
    if (!ctx.response.get('Cache-Control')) ctx.set('Cache-Control', 'no-store');
    const text = await response.text();
    ctx.body = text === '' ? null : Buffer.from(text);
    ctx.status = response.status;
    return;
  }
  const stream = Readable.fromWeb(response.body);
  // At once, so that proxies pass the headers on.
  stream.unshift(': open\n\n');
  if (ended) stream.once('close', ended);
  cutOffWhenStalled(ctx.res, stallMs);
  ctx.status = response.status;
  ctx.body = stream;
}
