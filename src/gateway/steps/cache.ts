import { plainJson } from '../../collections/exact-json.ts';
import { noteCall } from '../../mcp/building-blocks.ts';
import type { Message, RequestMessage } from '../../mcp/protocol.ts';
import { accountKeyPrefix, principalKey } from '../../oauth/auth-info.ts';
import { type Answer, lists, type Next, type Passing, type Step } from './step.ts';

/** Cached kinds of responses, and their lifetimes. */
export interface CacheLimits extends KeepingLimits {
  /** Lifetime of lists of older revisions, which declare none; not cached by default. */
  listMs?: number | undefined;
  /** True if the server learns who calls: no result is for everybody, whatever the server says. */
  isPersonal?: boolean | undefined;
}

/** Methods whose results may be cached (C6-07). */
const cacheable = new Set([...lists.keys(), 'server/discover', 'resources/read']);

/** Maximum lifetime of a cached result, in milliseconds, whatever its server declares. */
const longestMs = 86_400_000;

/** Maximum number of requests whose cache scope is remembered. */
const maxKnown = 1000;

/** A step that caches results. */
interface Cache extends Step {
  /**
   * Removes the results of an account, because its credentials have changed.
   * @param account see `accountKeyPrefix`
   */
  forgetAccount(account: string): void;
}

/** Result of a request that another caller sent. */
type Outcome = KeptAnswer | 'not kept' | 'not answered';

/**
 * Creates the cache of a server's results. They are cached as long as they declare (`ttlMs`): public ones for
 * everybody, all others for the access token of their request (T-158, C6-08). Equal requests at the same time share one
 * request to the server. Nothing is requested in advance.
 * @see MCP 2026-07-28 "Caching" (C6-07)
 */
export function createCache(limits: CacheLimits, nowMs: () => number): Cache {
  const kept = new KeptAnswers(limits);
  const running = new Map<string, Promise<Outcome>>();
  const knownPublic = new Set<string>();
  const notKept = new Set<string>();
  /** Number of reported changes: a result that was requested before the last one is not cached. */
  let changes = 0;

  const fresh = ({ result, untilMs }: KeptAnswer): Answer => {
    noteCall({ isCached: true });
    const left = Math.max(0, Math.floor(untilMs - nowMs()));
    return { result: result.ttlMs === undefined ? { ...result } : { ...result, ttlMs: left } };
  };
  const goodForMs = (
    { method }: RequestMessage,
    { ttlMs, resultType }: Record<string, unknown>,
    era: string,
  ): number => {
    if (ttlMs === 0) return 0;
    if (era === 'legacy') return lists.has(method) ? (limits.listMs ?? 0) : 0;
    if (resultType !== undefined && resultType !== 'complete') return 0;
    const lifeMs = plainJson(ttlMs);
    return typeof lifeMs === 'number' && lifeMs > 0 ? Math.min(lifeMs, longestMs) : 0;
  };
  const keep = (
    request: RequestMessage,
    { result }: Answer,
    { era, caller }: Passing,
    keys: Keys,
  ): Outcome => {
    const forMs = result ? goodForMs(request, result, era) : 0;
    if (!result || forMs === 0) {
      note(notKept, keys.shared);
      return 'not kept';
    }
    const isPublic = era === 'modern' && result.cacheScope === 'public' && limits.isPersonal !== true;
    notKept.delete(keys.shared);
    if (isPublic) note(knownPublic, keys.shared);
    else knownPublic.delete(keys.shared);
    const answer = {
      method: request.method,
      uri: request.params?.uri,
      ...(!isPublic && caller && { account: accountKeyPrefix(caller) }),
      result,
      untilMs: nowMs() + forMs,
    };
    kept.keep(isPublic ? keys.shared : keys.own, answer);
    return answer;
  };
  /** Sends the request for all callers that wait with the same key. */
  const lead = async (request: RequestMessage, passing: Passing, next: Next, keys: Keys): Promise<Answer> => {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const key = knownPublic.has(keys.shared) ? keys.shared : keys.own;
    const isLeading = !running.has(key) && !notKept.has(keys.shared);
    if (isLeading) running.set(key, promise);
    const before = changes;
    try {
      const answer = await next(request);
      if (passing.isCancelled) return answer;
      const outcome = before === changes ? keep(request, answer, passing, keys) : 'not kept';
      const isForAllWaiting = key === keys.own || knownPublic.has(keys.shared);
      resolve(isForAllWaiting ? outcome : 'not kept');
      return answer;
    } finally {
      resolve('not answered');
      if (running.get(key) === promise) running.delete(key);
    }
  };

  return {
    cares: (method) => cacheable.has(method),
    async answer(request, passing, next) {
      const keys = keysOf(request, passing);
      if (!keys || (passing.era === 'legacy' && limits.listMs === undefined)) return next(request);
      for (;;) {
        const found = kept.find(keys.own, nowMs()) ?? kept.find(keys.shared, nowMs());
        if (found) return fresh(found);
        const other = running.get(knownPublic.has(keys.shared) ? keys.shared : keys.own);
        const outcome = other && (await Promise.race([other, cancelled(passing.signal)]));
        if (typeof outcome === 'object') return fresh(outcome);
        if (outcome !== 'not answered' || passing.isCancelled) return lead(request, passing, next, keys);
      }
    },
    forgetAccount(account) {
      changes++;
      kept.forget((answer) => answer.account === account);
    },
    hear(notification) {
      const isMeant = meantBy(notification);
      if (!isMeant) return;
      changes++;
      kept.forget(isMeant);
    },
    hearAll() {
      changes++;
      kept.forget(() => true);
    },
  };
}

/** Keys of a result: for everybody, and for one token. */
interface Keys {
  shared: string;
  own: string;
}

/** Members of `params` that are not part of the cache key. */
function keysOf({ method, params = {} }: RequestMessage, { caller, era }: Passing): Keys | undefined {
  const { _meta, ...question } = params;
  // A call that goes on with the input of its client is no question anybody else asks.
  if (question.requestState !== undefined || question.inputResponses !== undefined) return undefined;
  const asked = JSON.stringify([era, method, Object.entries(question).sort(([a], [b]) => (a < b ? -1 : 1))]);
  const whose = caller ? [principalKey(caller), caller.tokenId ?? caller.scopes] : [];
  return { shared: asked, own: JSON.stringify([asked, whose]) };
}

/** Responses that a change makes stale. */
function meantBy({ method, params }: Message): ((answer: KeptAnswer) => boolean) | undefined {
  if (method === 'notifications/tools/list_changed') return (answer) => answer.method === 'tools/list';
  if (method === 'notifications/prompts/list_changed') return (answer) => answer.method === 'prompts/list';
  if (method === 'notifications/resources/list_changed')
    return (answer) => answer.method === 'resources/list' || answer.method === 'resources/templates/list';
  if (method === 'notifications/resources/updated')
    return (answer) => answer.method === 'resources/read' && answer.uri === params?.uri;
  return undefined;
}

function note(known: Set<string>, key: string): void {
  known.add(key);
  const [oldest] = known;
  if (known.size > maxKnown && oldest !== undefined) known.delete(oldest);
}

function cancelled(signal: AbortSignal): Promise<'not kept'> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve('not kept'), { once: true });
  });
}

/** A cached result. */
interface KeptAnswer {
  method: string;
  /** URI of the resource that was read. */
  uri?: unknown;
  /** Owner; absent if it is for everybody. */
  account?: string;
  result: Record<string, unknown>;
  /** Expiry on the clock of the cache, in milliseconds. */
  untilMs: number;
}

/** Limits of the cache. */
interface KeepingLimits {
  maxEntries: number;
  maxBytes: number;
}

/** Maximum size of one result, as a fraction of the cache: one part in this many. */
const largestPart = 10;

/** Cached results, limited in number and size; the least recently used is removed first. */
export class KeptAnswers {
  readonly #limits: KeepingLimits;
  readonly #answers = new Map<string, KeptAnswer & { bytes: number }>();
  #bytes = 0;

  constructor(limits: KeepingLimits) {
    this.#limits = limits;
  }

  /** Returns a result that has not expired. */
  find(key: string, nowMs: number): KeptAnswer | undefined {
    const kept = this.#answers.get(key);
    if (!kept) return undefined;
    this.#answers.delete(key);
    if (kept.untilMs > nowMs) {
      this.#answers.set(key, kept);
      return kept;
    }
    this.#bytes -= kept.bytes;
    return undefined;
  }

  /** Adds a result, unless it is too large. */
  keep(key: string, answer: KeptAnswer): void {
    const { maxEntries, maxBytes } = this.#limits;
    const bytes = Buffer.byteLength(JSON.stringify(answer.result)) + key.length;
    this.#drop(key);
    if (bytes > maxBytes / largestPart) return;
    this.#answers.set(key, { ...answer, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= maxEntries && this.#bytes <= maxBytes) return;
      this.#drop(oldest);
    }
  }

  /** Removes results. */
  forget(isMeant: (answer: KeptAnswer) => boolean): void {
    for (const [key, answer] of this.#answers) if (isMeant(answer)) this.#drop(key);
  }

  #drop(key: string): void {
    this.#bytes -= this.#answers.get(key)?.bytes ?? 0;
    this.#answers.delete(key);
  }
}
