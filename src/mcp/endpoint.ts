import type { Context, Middleware } from 'koa';
import { createWriteBatcher, type WriteBatcher } from '../net/write-batcher.ts';
import type { AuthInfo } from '../oauth/auth-info.ts';
import { loggable } from '../observability/loggable.ts';
import type { Logger } from '../observability/logger.ts';
import { checkContentLength, headerOf } from './http/dispatch.ts';
import type { Exchange, Serve } from './http/exchange.ts';
import { HeldBytes } from './http/held-bytes.ts';
import { createPulse, NodeReply } from './http/node-reply.ts';
import { isRefusal, type Refusal, sendRefusal } from './http/refusal.ts';
import type { AccountSessions } from './legacy/account-sessions.ts';
import { type Peers, ServedElsewhere } from './peers.ts';
import { createTransports, type McpTransports, type McpTransportsOptions } from './transports.ts';

/** Options of the MCP endpoint. */
export interface McpEndpointOptions extends McpTransportsOptions {
  /** Pause between comments on an open stream, in milliseconds; 20 s by default. */
  keepAliveMs?: number;
  /** Counts the bytes that wait for clients, shared with other endpoints; of this one alone by default. */
  held?: HeldBytes;
}

/** An MCP endpoint: one protected resource with several transports. The caller is in `ctx.state.authInfo`. */
export interface McpEndpoint {
  /** Serves Streamable HTTP of all revisions on one path, every method. */
  middleware: Middleware;
  /** Serves the stream of HTTP+SSE (2024-11-05). */
  sse: Middleware;
  /** Serves the POSTs of HTTP+SSE. */
  messages: Middleware;
  /** Serves the Rest transport. */
  rest: Middleware;
  /** The sessions of whole accounts. */
  accountSessions: AccountSessions;
  /** Rejects an announced body over the limit. Runs before the bearer check, so that no unauthenticated body is read (T-134). */
  refuseOversized: Middleware;
  /** Returns the numbers of sessions in this process and of running calls. */
  load: McpTransports['load'];
  /** Returns the tools that the scopes of a caller allow; undefined if the server does not respond in time. */
  toolsOf: McpTransports['toolsOf'];
  /**
   * Accepts no further requests, ends all streams, and ends running calls with an error. Sessions stay in the storage.
   * @param patienceMs time for running calls to end by themselves, in milliseconds; 0 by default
   */
  close(patienceMs?: number): Promise<void>;
}

const defaultKeepAliveMs = 20_000;

/**
 * Creates the MCP endpoint: every revision from 2024-11-05 to 2026-07-28. It never sees a token; put the bearer check
 * in front of it, and the checks of Host and Origin.
 * @see MCP transports
 */
export function createMcpEndpoint(options: McpEndpointOptions): McpEndpoint {
  const { logger, maxBodyBytes, keepAliveMs = defaultKeepAliveMs, held = new HeldBytes() } = options;
  const pulse = createPulse(keepAliveMs);
  const sendTogether = createWriteBatcher();
  const transports: McpTransports = createTransports(options);
  const { peers } = options;
  const at = (serve: Serve, methods: string) =>
    koaMiddleware({ serve, methods, pulse, sendTogether, held, peers, logger });

  return {
    middleware: at(transports.streamableHttp, 'GET, POST, DELETE, OPTIONS'),
    sse: at(transports.sse, 'GET, OPTIONS'),
    messages: at(transports.messages, 'POST, OPTIONS'),
    rest: at(transports.rest, 'POST, OPTIONS'),
    refuseOversized(ctx, next) {
      const refusal = checkContentLength(headerOf(ctx.req.headers, 'content-length'), maxBodyBytes);
      if (!refusal) return next();
      ctx.respond = false;
      sendRefusal(refusal, new NodeReply(ctx.res, pulse, sendTogether, { held }));
    },
    load: transports.load,
    toolsOf: transports.toolsOf,
    accountSessions: transports.accountSessions,
    close: (patienceMs = 0) => transports.close(patienceMs),
  };
}

/** Adapter of a transport for Koa. */
interface KoaMiddlewareOptions {
  serve: Serve;
  /** Methods in the response to OPTIONS. */
  methods: string;
  pulse: ReturnType<typeof createPulse>;
  sendTogether: WriteBatcher;
  held: HeldBytes;
  peers: Peers | undefined;
  logger: Logger;
}

function koaMiddleware({
  serve,
  methods,
  pulse,
  sendTogether,
  held,
  peers,
  logger,
}: KoaMiddlewareOptions): Middleware {
  const logRefusal = ({ reason }: Refusal, { clientId }: AuthInfo): void =>
    logger.debug({ reason, client: loggable(clientId) }, 'an MCP request was refused');

  return async (ctx: Context) => {
    if (ctx.method === 'OPTIONS') {
      ctx.status = 204;
      ctx.set('Allow', methods);
      return;
    }
    const authInfo: AuthInfo | undefined = ctx.state.authInfo;
    if (!authInfo)
      throw new Error('Nobody was identified: put the bearer check in front of the MCP endpoint.');
    const { method, req, res } = ctx;
    const reply = new NodeReply(res, pulse, sendTogether, { held, authInfo });
    const { headers } = req;
    const { requestId } = ctx.state;
    const exchange: Exchange = {
      method,
      headers,
      query: ctx.querystring,
      body: req,
      authInfo,
      reply,
      requestId,
      onTrace: (trace) => {
        ctx.state.trace = trace;
      },
    };
    if (peers) exchange.isCounted = peers.hasCounted(req);
    try {
      const refusal = await serve(exchange);
      if (isRefusal(refusal)) {
        logRefusal(refusal, authInfo);
        sendRefusal(refusal, reply);
      }
    } catch (error) {
      if (peers && error instanceof ServedElsewhere)
        await peers.forward(error.processId, req, res, exchange.sent);
      else if (reply.isBegun) {
        logger.error({ err: error }, 'an MCP answer broke off');
        res.destroy();
      } else throw error;
    }
    if (peers) delete exchange.sent;
    ctx.respond = false;
  };
}
