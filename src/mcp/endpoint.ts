import type { Context, Middleware } from 'koa';
import { createWriteBatcher, type WriteBatcher } from '../net/write-batcher.ts';
import type { AuthInfo } from '../oauth/auth-info.ts';
import { protectedResourceMetadataUrl } from '../oauth/well-known.ts';
import { type Logger, loggable } from '../observability/logger.ts';
import { runTraced } from '../observability/trace-context.ts';
import type { McpSessionStore } from '../storage/mcp-sessions.ts';
import { type CallObservers, type FinishedCall, ledgerUnavailable, RecordedCalls } from './calls.ts';
import {
  checkAccept,
  checkContentLength,
  createDispatch,
  headerOf,
  type Preflight,
  withPreflight,
} from './http/dispatch.ts';
import type { AccessWatch, Exchange, Posted, Serve } from './http/exchange.ts';
import { HeldBytes } from './http/held-bytes.ts';
import { createCallLimit, createStreamLimit } from './http/limits.ts';
import { createPulse, NodeReply } from './http/node-reply.ts';
import {
  closing,
  codeOfRefusal,
  isRefusal,
  type Refusal,
  sendRefusal,
  toolCalledTooOften,
  tooManyRequests,
} from './http/refusal.ts';
import { type AccountSessions, createAccountSessions } from './legacy/account-sessions.ts';
import { createSessionRegistry, type SessionLimits, type SessionsInUse } from './legacy/session-registry.ts';
import { createSseTransport } from './legacy/sse.ts';
import { createStatelessTransport } from './legacy/stateless.ts';
import { createStreamableHttp } from './legacy/streamable-http.ts';
import { createStreamableHttp2026 } from './modern/streamable-http.ts';
import { type Peers, ServedElsewhere } from './peers.ts';
import {
  type ChangeRelay,
  type Conversations,
  isElsewhere,
  type Seal,
  type ServerSource,
} from './protocol.ts';
import { createServedMethods, type OpenMethods } from './reading/methods.ts';
import { checkRestAccept, checkRestMethod, closingConnection, createRestTransport } from './rest/endpoint.ts';
import { createScopeGate, type ScopeGate } from './scopes/scope-gate.ts';
import type { ScopeRules } from './scopes/scope-rules.ts';
import { createScopeTools, type ScopeTools } from './scopes/scope-tools.ts';
import {
  createExtensions,
  declaringExtensions,
  filterLists,
  guardConversations,
} from './sdk/conversation-filters.ts';
import { createConversations, createPrincipalConversations } from './sdk/conversations.ts';
import { settleTraces } from './traces.ts';
import { askForLinks } from './upstreams/link-prompts.ts';
import { type UpstreamAccess, withUpstreams } from './upstreams/upstream.ts';

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

/** Limits of an endpoint for one principal. */
export interface PrincipalLimits {
  maxCallsPerPrincipal: number;
  /** Open streams that belong to no session: HTTP+SSE, and listening in 2026-07-28. */
  maxStreamsPerPrincipal: number;
}

/** Limits the requests of callers. */
export interface RequestLimit {
  /** Counts a request. @returns 0, or the seconds until there is room again */
  take(caller: AuthInfo): Promise<number>;
}

/** Limits the calls of tools. */
export interface ToolCallLimit {
  /**
   * Counts the calls of one body, all of them or none.
   * @param tools the tool name of each call
   * @returns 0, or the seconds until there is room again
   */
  take(caller: AuthInfo, tools: readonly string[]): number;
}

/** Options of the transports of an endpoint. */
export interface McpTransportsOptions {
  /** Source of MCP servers. */
  source: ServerSource;
  /** Scopes that tools, prompts and resources need. */
  scopeRules: ScopeRules;
  /** Methods that are served in addition to those of MCP, each with the scopes it needs; none by default. */
  methods?: OpenMethods;
  /** Identifiers of the MCP extensions that Gatehouse itself provides and declares; none by default. */
  extensions?: readonly string[];
  /** Public URLs of its paths; those but `messages` are identifiers of protected resources. */
  urls: Record<'mcp' | 'sse' | 'messages' | 'rest', URL>;
  maxBodyBytes: number;
  /** True if the revisions up to 2025-11-25 are served in sessions, or each request by itself. */
  sessions: 'stored' | 'none';
  sessionLimits: SessionLimits;
  principalLimits: PrincipalLimits;
  /** Bounds how many requests one principal sends, over all transports; nothing is counted without it. */
  requestLimit?: RequestLimit;
  /** Bounds how often an account calls a tool, over all its clients and transports; nothing is counted without it. */
  toolCallLimit?: ToolCallLimit;
  /** Take note of calls; nobody does without them. */
  calls?: CallObservers;
  store: McpSessionStore;
  /** The sessions of all endpoints on the same storage, so that none sweeps those of another; of this one by default. */
  sessionsInUse?: SessionsInUse;
  /** The other processes that serve the installation; without them this process is the only one. */
  peers?: Peers;
  /** Carry changes of its servers to other nodes, for clients that listen and for conversations; none without them. */
  relays?: Record<'listeners' | 'conversations', ChangeRelay>;
  access: AccessWatch;
  /** The APIs of upstreams, for tools; none without it. */
  upstreams?: UpstreamAccess;
  seal: Seal;
  /** Milliseconds that a call may run before its response becomes a stream that is kept alive; 400 by default. */
  streamAfterMs?: number;
  /** Epoch seconds. */
  now: () => number;
  logger: Logger;
}

/** The transports of an endpoint, each with the checks in front of it. */
export interface McpTransports {
  streamableHttp: Serve;
  sse: Serve;
  messages: Serve;
  rest: Serve;
  /** Returns the numbers of sessions in this process and of running calls. */
  load(): { sessions: number; calls: number };
  /** Returns the tools that the scopes of a caller allow; undefined if they are not known in time. */
  toolsOf(caller: AuthInfo): Promise<ScopeTools | undefined>;
  accountSessions: AccountSessions;
  /**
   * Accepts no further requests, ends the streams without running calls, and then the running calls with an error. Other
   * processes may take sessions without running calls at once.
   * @param patienceMs time for running calls to end by themselves, in milliseconds
   */
  close(patienceMs: number): Promise<void>;
}

const defaultStreamAfterMs = 400;

/** Creates the transports, which share the scope checks, the count of calls and the servers. */
function createTransports(options: McpTransportsOptions): McpTransports {
  const { source, urls, maxBodyBytes, principalLimits, access, seal, now, logger } = options;
  const url = urls.mcp;
  const { peers } = options;
  const body = { maxBytes: maxBodyBytes, isRelayed: isElsewhere(source), isKept: peers !== undefined };
  const { streamAfterMs = defaultStreamAfterMs } = options;
  const served = createServedMethods(options.methods);
  const gateAt = (resource: URL): ScopeGate =>
    createScopeGate(options.scopeRules, protectedResourceMetadataUrl(resource.href), served);
  const gate = gateAt(url);
  const declareExtensions = createExtensions(options.extensions ?? [], served);
  const inFront = (behind: Conversations): Conversations =>
    declaringExtensions(
      filterLists(guardConversations(behind, served, logger), gate.filterResult),
      declareExtensions,
    );
  const conversations = inFront(
    createConversations({ source, relay: options.relays?.conversations, logger }),
  );
  /** Conversations of one request each. */
  const passing =
    source.sharing === 'principal'
      ? inFront(createPrincipalConversations({ source, logger }))
      : conversations;
  const calls = createCallLimit(principalLimits.maxCallsPerPrincipal);
  const streams = createStreamLimit(principalLimits.maxStreamsPerPrincipal, options.sessionLimits.maxTotal);
  const stopping = new AbortController();
  const registry = createSessionRegistry({
    conversations: askForLinks(conversations, logger),
    store: options.store,
    ...(options.sessionsInUse && { inUse: options.sessionsInUse }),
    ...(peers && { ownership: peers.sessions }),
    seal,
    access,
    limits: options.sessionLimits,
    url,
    streamAfterMs,
    calls,
    now,
    logger,
  });
  const legacy =
    options.sessions === 'stored'
      ? createStreamableHttp({ sessions: registry, url, calls, gate })
      : createStatelessTransport({
          conversations: passing,
          url,
          gate,
          calls,
          stopped: stopping.signal,
          access,
          logger,
        });
  const modern = createStreamableHttp2026({
    source,
    conversations: passing,
    declareExtensions,
    served,
    url,
    gate,
    calls,
    accessWatch: access,
    seal,
    ...(peers && { peers }),
    streams,
    relay: options.relays?.listeners,
    streamAfterMs,
    now,
    logger,
  });
  const sse = createSseTransport({
    conversations,
    postUrl: urls.messages,
    gate: gateAt(urls.sse),
    calls,
    accessWatch: access,
    streams,
    ...(peers && { processId: peers.id }),
    logger,
  });
  const rest = createRestTransport({
    conversations: passing,
    url: urls.rest,
    gate: gateAt(urls.rest),
    calls,
    access,
    stopped: stopping.signal,
    logger,
  });
  const { toolCallLimit } = options;
  /** Counts the tool calls of a body before any of them runs (FA-32). */
  const bounded = <Body extends Posted | undefined>(
    serve: (exchange: Exchange, posted: Body) => ReturnType<Serve>,
  ): typeof serve => {
    if (!toolCallLimit) return serve;
    return async (exchange, posted) => {
      const calledTools = posted?.messages.operations.filter(({ kind }) => kind === 'tool') ?? [];
      if (!posted || exchange.isCounted || calledTools.length === 0) return serve(exchange, posted);
      const waitSeconds = toolCallLimit.take(
        exchange.authInfo,
        calledTools.map(({ name }) => name),
      );
      if (waitSeconds === 0) return serve(exchange, posted);
      const { isBatch, requests } = posted.messages;
      const [request] = isBatch ? [] : requests;
      return { ...toolCalledTooOften(waitSeconds), ...(request && { id: request.id }) };
    };
  };
  const { calls: observers = {} } = options;
  const { recorder } = observers;
  /** Reads the traces of a body, and takes note of its calls, also if they are refused. */
  const observed = <Body extends Posted | undefined>(
    transport: FinishedCall['transport'],
    serve: (exchange: Exchange, posted: Body) => ReturnType<Serve>,
  ): typeof serve => {
    return async (exchange, posted) => {
      if (!posted) return serve(exchange, posted);
      const { list } = posted.messages;
      const traces = settleTraces(exchange.headers, list);
      const found = new RecordedCalls(observers, transport, exchange, posted, traces);
      const [first] = traces.values();
      const trace = found.trace ?? (first && { traceId: first.traceId, spanId: first.spanId, isOver: false });
      if (trace) exchange.onTrace?.(trace);
      if (!found.hasCalls) {
        if (!trace) return serve(exchange, posted);
        return runTraced(trace, () => serve(exchange, posted)).finally(() => {
          trace.isOver = true;
        });
      }
      if (recorder && !recorder.isReady()) {
        // Not awaited: it is known that the record fails now.
        void found.refuse(ledgerUnavailable, codeOfRefusal(ledgerUnavailable));
        return ledgerUnavailable;
      }
      exchange.calls = found;
      try {
        const refusal = await found.run(() => serve(exchange, posted));
        if (refusal) await found.refuse(refusal, codeOfRefusal(refusal));
        return refusal;
      } catch (error) {
        if (error instanceof ServedElsewhere) found.discard();
        else await found.fail();
        throw error;
      }
    };
  };
  const serveRest = withPreflight(
    {
      checkMethod: ({ method }) => checkRestMethod(method),
      checkAccept: ({ headers }) => checkRestAccept(headerOf(headers, 'accept')),
      body,
    },
    observed('rest', bounded(rest)),
  );
  let isClosing = false;

  const { requestLimit } = options;
  const counted = (serve: Serve): Serve => {
    if (!requestLimit) return serve;
    return async (exchange) => {
      if (exchange.isCounted) return serve(exchange);
      const waitSeconds = await requestLimit.take(exchange.authInfo);
      return waitSeconds > 0 ? tooManyRequests(waitSeconds) : serve(exchange);
    };
  };
  const { upstreams } = options;
  /** Others take over the sessions of one process at once. */
  const stopped: Refusal = peers ? { ...closing, headers: { 'Retry-After': '1' } } : closing;
  /** Expands the scopes of the caller. */
  const enter = (uncounted: Serve): Serve => {
    const serve = counted(uncounted);
    return async (exchange) => {
      const caller = gate.effective(exchange.authInfo);
      exchange.authInfo = upstreams ? withUpstreams(caller, upstreams) : caller;
      return serve(exchange);
    };
  };
  const untilClosing =
    (serve: Serve): Serve =>
    async (exchange) =>
      isClosing ? stopped : serve(exchange);
  /**
   * While the server stops, takes only messages for which running calls wait: responses and cancellations.
   * @param isThere returns whether this process has the session; no other is restored
   */
  const untilAnswered = <Body extends Posted | undefined>(
    serve: (exchange: Exchange, posted: Body) => ReturnType<Serve>,
    isThere: (exchange: Exchange) => boolean = () => true,
  ): typeof serve => {
    return async (exchange, posted) => {
      const isAnswer = posted?.messages.requests.length === 0 && !stopping.signal.aborted;
      return isClosing && !(isAnswer && isThere(exchange)) ? stopped : serve(exchange, posted);
    };
  };
  const holdsSession = ({ headers }: Exchange): boolean =>
    registry.holds(String(headerOf(headers, 'mcp-session-id')));
  const enterRest = untilClosing(enter(serveRest));
  return {
    streamableHttp: enter(
      createDispatch(
        {
          legacy: untilAnswered(observed('http', bounded(legacy)), holdsSession),
          modern: untilAnswered(observed('http', bounded(modern.serve))),
        },
        body,
      ),
    ),
    sse: untilClosing(enter(withPreflight({ ...only('GET'), body }, sse.open))),
    messages: enter(
      withPreflight({ ...only('POST'), body }, untilAnswered(observed('sse', bounded(sse.post)))),
    ),
    async rest(exchange) {
      const refusal = await enterRest(exchange);
      return refusal && closingConnection(refusal);
    },
    load: () => ({ sessions: registry.held(), calls: calls.total() }),
    toolsOf: createScopeTools({
      list: modern.listTools,
      gate,
      isPersonal: ['each', 'principal', 'account'].includes(source.sharing),
      patienceMs: 1000,
      keptMs: 30_000,
      nowMs: () => performance.now(),
    }),
    accountSessions: createAccountSessions(options.store, registry),
    async close(patienceMs) {
      isClosing = true;
      modern.endListening();
      registry.drain();
      await Promise.all([sse.endIdle(), calls.whenNoneRuns(patienceMs)]);
      stopping.abort();
      await Promise.all([registry.close(), sse.close(), modern.close()]);
      await Promise.all([conversations.close(), passing.close()]);
    },
  };
}

/** The checks of a path that serves one method. */
function only(allowed: 'GET' | 'POST'): Omit<Preflight, 'body'> {
  return {
    checkMethod: ({ method }) =>
      method === allowed ? undefined : { reason: 'method_not_allowed', headers: { Allow: allowed } },
    // Responses to POSTs are sent on the stream, so `Accept` does not matter.
    checkAccept: ({ method, headers }) =>
      method === 'GET' ? checkAccept(method, headerOf(headers, 'accept')) : undefined,
  };
}
