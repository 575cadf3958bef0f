import { allEnded, endInOrder } from '../collections/closing.ts';
import type { AuthInfo } from '../oauth/auth-info.ts';
import { protectedResourceMetadataUrl } from '../oauth/well-known.ts';
import type { Logger } from '../observability/logger.ts';
import type { McpSessionStore } from '../storage/mcp-sessions.ts';
import { type CallObservers, type FinishedCall, observeCalls } from './calls.ts';
import { checkAccept, createDispatch, headerOf, type Preflight, withPreflight } from './http/dispatch.ts';
import type { AccessWatch, Exchange, Posted, Serve, ServePosted } from './http/exchange.ts';
import {
  createCallLimit,
  createStreamLimit,
  limitRequests,
  limitToolCalls,
  type RequestLimit,
  type ToolCallLimit,
} from './http/limits.ts';
import { closing, type Refusal } from './http/refusal.ts';
import { type AccountSessions, createAccountSessions } from './legacy/account-sessions.ts';
import { createSessionRegistry, type SessionLimits, type SessionsInUse } from './legacy/session-registry.ts';
import { createSseTransport } from './legacy/sse.ts';
import { createStatelessTransport } from './legacy/stateless.ts';
import { createStreamableHttp } from './legacy/streamable-http.ts';
import { createStreamableHttp2026 } from './modern/streamable-http.ts';
import type { Peers, SessionLease } from './peers.ts';
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
import { askForLinks } from './upstreams/link-prompts.ts';
import { type UpstreamAccess, withUpstreams } from './upstreams/upstream.ts';

/** Limits of an endpoint for one principal. */
export interface PrincipalLimits {
  maxCallsPerPrincipal: number;
  /** Open streams that belong to no session: HTTP+SSE, and listening in 2026-07-28. */
  maxStreamsPerPrincipal: number;
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
  /** Observers of calls; none by default. */
  calls?: CallObservers;
  store: McpSessionStore;
  /** The sessions of all endpoints on the same storage, so that none sweeps those of another; of this one by default. */
  sessionsInUse?: SessionsInUse;
  /** The other processes that serve the installation; without them this process is the only one. */
  peers?: Peers;
  /** The lease of a process without peers; without it no other process can take its place. */
  lease?: SessionLease;
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
   * processes, and a new endpoint of the route, may take sessions without running calls at once.
   * @param patienceMs time for running calls to end by themselves, in milliseconds
   */
  close(patienceMs: number): Promise<void>;
}

const defaultStreamAfterMs = 400;

/** Creates the transports, which share the scope checks, the count of calls and the servers. */
export function createTransports(options: McpTransportsOptions): McpTransports {
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
    ...(options.lease && { lease: options.lease }),
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
  const bounded = <Body extends Posted | undefined>(serve: ServePosted<Body>): ServePosted<Body> =>
    limitToolCalls(options.toolCallLimit, serve);
  const observed = <Body extends Posted | undefined>(
    transport: FinishedCall['transport'],
    serve: ServePosted<Body>,
  ): ServePosted<Body> => observeCalls(options.calls ?? {}, transport, serve);
  const serveRest = withPreflight(
    {
      checkMethod: ({ method }) => checkRestMethod(method),
      checkAccept: ({ headers }) => checkRestAccept(headerOf(headers, 'accept')),
      body,
    },
    observed('rest', bounded(rest)),
  );
  let isClosing = false;
  const { upstreams } = options;
  /** Others take over the sessions of one process at once. */
  const stopped: Refusal = peers ? { ...closing, headers: { 'Retry-After': '1' } } : closing;
  /** Expands the scopes of the caller. */
  const enter = (uncounted: Serve): Serve => {
    const serve = limitRequests(options.requestLimit, uncounted);
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
    serve: ServePosted<Body>,
    isThere: (exchange: Exchange) => boolean = () => true,
  ): ServePosted<Body> => {
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
      await endInOrder([
        () => allEnded([sse.endIdle(), calls.whenNoneRuns(patienceMs)]),
        () => stopping.abort(),
        () => allEnded([registry.close(), sse.close(), modern.close()]),
        () => allEnded([conversations.close(), passing.close()]),
      ]);
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
