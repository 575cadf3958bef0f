import { internalRequest } from '../../mcp/building-blocks.ts';
import { type Answer, type Caller, type JsonRpcError, modernRevision } from '../../mcp/protocol.ts';
import { principalKey } from '../../oauth/auth-info.ts';
import { modernErrorCodes } from '../../oauth/mcp-error-codes.ts';
import type { BackendFailure } from '../backends/backend-errors.ts';
import type { ModernLink } from './modern-link.ts';

/** Time for which "does not speak 2026-07-28" is remembered by default, in milliseconds. */
const defaultBelievedMs = 600_000;

/**
 * Time for which a missing or unclear response is remembered, in milliseconds. Until then the server is treated as an
 * older one first.
 */
const doubtedMs = 60_000;

/** Minimum interval of detections after an unexpected response or a rejected `initialize`, in milliseconds. */
const doubtEveryMs = 5_000;

/** Failures of a caller, and not of the server: missing credentials, or too many calls. */
const ofCaller: ReadonlySet<unknown> = new Set<BackendFailure>([
  'backend_wants_login',
  'backend_forbids',
  'backend_busy',
  'backend_overloaded',
]);

/**
 * Result of a detection. `unclear`: no useful response in time; `unasked`: no request was possible, or not for this
 * caller.
 */
type Outcome = 'modern' | 'older' | 'unclear' | 'unasked';

/** Options of the detection. */
interface ErasOptions {
  link: ModernLink;
  discoveries: Discoveries;
  /** Maximum time for the response to a request that the server may not understand, in milliseconds. */
  probeMs: number;
  /** Time that callers wait for the result since the first of them asked, in milliseconds; `probeMs` by default. */
  patienceMs?: number;
  /**
   * Time for which the server's own statement that it does not speak 2026-07-28 is remembered, in milliseconds; ten
   * minutes by default.
   */
  believedMs?: number;
  nowMs: () => number;
}

/**
 * Detects the eras that a server speaks. The result is remembered, and detected again if the server behaves otherwise.
 * @see MCP 2026-07-28 "Versioning", dual-era clients (B1-09, B5-15, C3-09)
 */
export class Eras {
  /** True if the server accepts `initialize`; undefined until that is known. */
  speaksLegacy: boolean | undefined;
  readonly #options: ErasOptions;
  readonly #changed = new Set<() => void>();
  #last: { outcome: Outcome; atMs: number } | undefined;
  /** Time of the next detection for a server that rejects `initialize` and gave no clear response. */
  #renewFrom = 0;
  #asking: { answer: Promise<boolean>; sinceMs: number } | undefined;
  #doubtFrom = 0;
  /** Last id of the gateway's own requests: they are negative, so that no call has them. */
  #lastId = 0;

  constructor(options: ErasOptions) {
    this.#options = options;
  }

  /** True if the server speaks 2026-07-28; undefined if that is not known. */
  get known(): boolean | undefined {
    if (!this.#last) return undefined;
    const { outcome, atMs } = this.#last;
    return this.#options.nowMs() < atMs + this.#lastsMs(outcome) ? outcome === 'modern' : undefined;
  }

  /**
   * Returns true if the server speaks 2026-07-28.
   * @param caller caller of the request if it is not known yet
   */
  speaksModern(caller: Caller): Promise<boolean> {
    const { known } = this;
    if (known !== undefined) return Promise.resolve(known);
    // Who can be served in the older revisions does not wait for what once did not say.
    const canBeOlder = this.#last?.outcome === 'unclear' && this.speaksLegacy === true;
    const { patienceMs, nowMs } = this.#options;
    const { answer, sinceMs } = this.#askOnce(caller, false);
    if (canBeOlder) return Promise.resolve(false);
    // Who comes late does not wait as long again.
    return patienceMs === undefined ? answer : within(patienceMs - (nowMs() - sinceMs), answer);
  }

  /**
   * Returns true if a server that rejected `initialize` speaks 2026-07-28. If it was taken for an older one without a
   * clear response, it is asked again, but at most once in some seconds.
   * @param leftMs remaining time of the caller, in milliseconds
   */
  speaksModernAlone(caller: Caller, leftMs = Number.POSITIVE_INFINITY): Promise<boolean> {
    const isRenewal = this.#last?.outcome === 'unclear' && this.#options.nowMs() >= this.#renewFrom;
    if (isRenewal) this.#last = undefined;
    const { known } = this;
    if (known !== undefined) return Promise.resolve(known);
    return within(leftMs, this.#askOnce(caller, isRenewal).answer);
  }

  /** Takes note that the server has said too late that it speaks 2026-07-28. */
  heardModern(): void {
    this.#last = { outcome: 'modern', atMs: this.#options.nowMs() };
  }

  #askOnce(caller: Caller, isRenewal: boolean): { answer: Promise<boolean>; sinceMs: number } {
    this.#asking ??= {
      answer: this.#ask(caller, isRenewal).finally(() => {
        this.#asking = undefined;
      }),
      sinceMs: this.#options.nowMs(),
    };
    return this.#asking;
  }

  /** Detects again, at most once in some seconds, after a response that no server of 2026-07-28 sends. */
  doubt(caller: Caller): void {
    if (this.#options.nowMs() < this.#doubtFrom || this.#asking) return;
    this.#doubtFrom = this.#options.nowMs() + doubtEveryMs;
    void this.#probe(caller).then((outcome) => {
      // Where it cannot be asked now, or does not say, what is known still counts.
      if (outcome !== 'older') return;
      this.#last = { outcome, atMs: this.#options.nowMs() };
      this.speaksLegacy = undefined;
      this.#options.discoveries.clear();
      for (const tell of [...this.#changed]) tell();
    });
  }

  /**
   * Calls back when the server does not speak 2026-07-28 any more.
   * @returns stops that
   */
  onOutdated(tell: () => void): () => void {
    this.#changed.add(tell);
    return () => this.#changed.delete(tell);
  }

  #lastsMs(outcome: Outcome): number {
    const { believedMs = defaultBelievedMs } = this.#options;
    if (outcome === 'modern') return Number.POSITIVE_INFINITY;
    if (outcome === 'unasked') return 0;
    if (outcome === 'older') return believedMs;
    // Where it has answered `initialize`, its silence says enough for a while; what was slow once need not stay so.
    return this.speaksLegacy ? Math.min(believedMs, defaultBelievedMs) : doubtedMs;
  }

  async #ask(caller: Caller, isRenewal: boolean): Promise<boolean> {
    const outcome = await this.#probe(caller);
    const atMs = this.#options.nowMs();
    // That it could not be asked says nothing new of it.
    if (outcome !== 'unasked' || !this.#last) this.#last = { outcome, atMs };
    // From its end: a program may be asked for long in vain.
    if (isRenewal) this.#renewFrom = atMs + doubtEveryMs;
    return outcome === 'modern';
  }

  #probe(caller: Caller): Promise<Outcome> {
    const { link, discoveries, probeMs } = this.#options;
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const cancel = link.send(
      { ...internalRequest('server/discover', {}), id: --this.#lastId },
      { caller, parameters: [] },
      {
        notified: () => undefined,
        answered: (answer) => {
          const isModern = isOfModern(answer);
          if (isModern && answer.result) discoveries.keep(caller, answer.result);
          resolve(isModern ? 'modern' : 'older');
        },
        failed: ({ isOther, isBroken, detail }) => {
          // Where it could not be asked, or not by this caller, the next one asks: it says nothing for others.
          const isOfCaller = !detail || ofCaller.has(detail.reason);
          resolve(isOther ? 'older' : isBroken || isOfCaller ? 'unasked' : 'unclear');
        },
      },
    );
    const timer = setTimeout(() => {
      cancel();
      resolve('unclear');
    }, probeMs);
    return promise.finally(() => clearTimeout(timer));
  }
}

/** Returns true if a response is one of 2026-07-28. No single error code decides that the server is older. */
function isOfModern(answer: Answer): boolean {
  if (answer.result) return namesModern(answer);
  const isRefused = namedRevisions(answer) !== undefined && !namesModern(answer);
  return modernErrorCodes.has(answer.error.code) && !isRefused;
}

/** Waits for a limited time; false if there is no result by then. */
function within(ms: number, answer: Promise<boolean>): Promise<boolean> {
  if (ms === Number.POSITIVE_INFINITY) return answer;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), ms);
  answer.then(resolve, () => resolve(false));
  return promise.finally(() => clearTimeout(timer));
}

/** A server's response of any form. */
interface Answered {
  result?: Record<string, unknown> | undefined;
  error?: JsonRpcError | undefined;
}

/**
 * Returns the revisions that a server names: in its response to `server/discover`, or in the error for an unsupported
 * revision.
 * @returns undefined if it names none
 * @see MCP 2026-07-28 "Protocol Version Negotiation" (C3-03, C3-08)
 */
export function namedRevisions({ result, error }: Answered): readonly unknown[] | undefined {
  const { supported } = Object(error?.data) as { supported?: unknown };
  const versions = result ? result.supportedVersions : supported;
  return Array.isArray(versions) ? versions : undefined;
}

/** Returns true if a server names 2026-07-28 among its revisions. */
export function namesModern(answer: Answered): boolean {
  return namedRevisions(answer)?.includes(modernRevision) === true;
}

/** Maximum time for which a response is kept, in milliseconds. */
const longestMs = 3_600_000;

/** Maximum number of principals with a kept response. */
const maxKept = 1000;

const everybody = '';

/**
 * Cache of the responses to `server/discover`, as long as the server allows: for everybody, or for the principal that
 * asked.
 * @see MCP 2026-07-28 "Caching" (C3-03, C6-07, C6-08)
 */
export class Discoveries {
  readonly #nowMs: () => number;
  readonly #isPersonal: boolean;
  readonly #kept = new Map<string, { result: Record<string, unknown>; until: number }>();

  /** @param isPersonal true if no response is for everybody, whatever the server says */
  constructor(nowMs: () => number, isPersonal = false) {
    this.#nowMs = nowMs;
    this.#isPersonal = isPersonal;
  }

  /** Returns a kept response for a caller, with its remaining time. */
  find({ authInfo }: Caller): Record<string, unknown> | undefined {
    for (const key of [everybody, principalKey(authInfo)]) {
      const kept = this.#kept.get(key);
      const ttlMs = Math.floor((kept?.until ?? 0) - this.#nowMs());
      if (kept && ttlMs > 0) return { ...kept.result, ttlMs };
    }
    return undefined;
  }

  /** Keeps a response, if it allows that. */
  keep({ authInfo }: Caller, result: Record<string, unknown>): void {
    const { ttlMs, cacheScope } = result;
    if (typeof ttlMs !== 'number' || !(ttlMs > 0)) return;
    const key = cacheScope === 'public' && !this.#isPersonal ? everybody : principalKey(authInfo);
    this.#kept.delete(key);
    this.#kept.set(key, { result, until: this.#nowMs() + Math.min(ttlMs, longestMs) });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > maxKept && oldest !== undefined) this.#kept.delete(oldest);
  }

  /** Forgets all. */
  clear(): void {
    this.#kept.clear();
  }
}
