import { internalRequest } from '../../mcp/building-blocks.ts';
import type { Answer, Caller } from '../../mcp/protocol.ts';
import { modernErrorCodes } from '../../oauth/mcp-error-codes.ts';
import type { BackendFailure } from '../backends/backend-errors.ts';
import type { Discoveries } from './discoveries.ts';
import type { ModernLink } from './modern-link.ts';
import { namedRevisions, namesModern } from './named-revisions.ts';

/** Milliseconds for which "does not speak 2026-07-28" is remembered, if nothing else is said. */
const defaultBelievedMs = 600_000;

/**
 * Milliseconds for which no response, or one that says nothing about eras, is remembered: the server is then treated as
 * an older one first.
 */
const doubtedMs = 60_000;

/** Minimum interval of detections after an unexpected response or a rejected `initialize`, in milliseconds. */
const doubtEveryMs = 5_000;

/** Reason why a caller is rejected: their credentials, or their number of calls. */
const ofCaller: ReadonlySet<unknown> = new Set<BackendFailure>([
  'backend_wants_login',
  'backend_forbids',
  'backend_busy',
  'backend_overloaded',
]);

/**
 * Result of a detection: it speaks 2026-07-28; it speaks others; it gave no useful response in time; or it could not be
 * asked, or not for this caller.
 */
type Outcome = 'modern' | 'older' | 'unclear' | 'unasked';

/** Options of the detection. */
export interface ErasOptions {
  link: ModernLink;
  discoveries: Discoveries;
  /** Milliseconds that a server may take to respond to a request that it may not understand. */
  probeMs: number;
  /** Milliseconds that callers wait for that since the first of them asked; no shorter by default. */
  patienceMs?: number;
  /**
   * Milliseconds for which its own statement that it does not speak 2026-07-28 is remembered; ten minutes by default.
   */
  believedMs?: number;
  nowMs: () => number;
}

/**
 * Detects the eras that a server speaks; the result is remembered, and detected again if the server behaves otherwise.
 * @see MCP 2026-07-28 "Versioning", dual-era clients (B1-09, B5-15, C3-09)
 */
export class Eras {
  /** True if it takes `initialize`; undefined until that is known. */
  speaksLegacy: boolean | undefined;
  readonly #options: ErasOptions;
  readonly #changed = new Set<() => void>();
  #last: { outcome: Outcome; atMs: number } | undefined;
  /** From when one that did not say is asked again because it refuses `initialize`. */
  #renewFrom = 0;
  #asking: { answer: Promise<boolean>; sinceMs: number } | undefined;
  #doubtFrom = 0;
  /** Requests of our own have ids that no call has. */
  #lastId = 0;

  constructor(options: ErasOptions) {
    this.#options = options;
  }

  /** True if it speaks 2026-07-28, as far as that is known; undefined if it has to be asked. */
  get known(): boolean | undefined {
    if (!this.#last) return undefined;
    const { outcome, atMs } = this.#last;
    return this.#options.nowMs() < atMs + this.#lastsMs(outcome) ? outcome === 'modern' : undefined;
  }

  /**
   * Returns true if it speaks 2026-07-28.
   * @param caller for whom it is asked if that is not known
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
   * Returns true if it speaks 2026-07-28 if it has refused `initialize`: one that was only taken for an older one,
   * because it once did not say, is asked again; some seconds after that at the soonest once more.
   * @param leftMs how long its caller may still wait for it to begin, in milliseconds
   */
  speaksModernAlone(caller: Caller, leftMs = Number.POSITIVE_INFINITY): Promise<boolean> {
    const isRenewal = this.#last?.outcome === 'unclear' && this.#options.nowMs() >= this.#renewFrom;
    if (isRenewal) this.#last = undefined;
    const { known } = this;
    if (known !== undefined) return Promise.resolve(known);
    return within(leftMs, this.#askOnce(caller, isRenewal).answer);
  }

  /** It has said that it speaks 2026-07-28 when nobody waited for that any more. */
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

  /** Something was answered that a server of 2026-07-28 does not answer: it is asked again, now and then. */
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

  /** Calls back when it does not speak 2026-07-28 any more. @returns stops it */
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

/** Fallback hangs on no one code: what is no answer of 2026-07-28 is one of an older server. */
function isOfModern(answer: Answer): boolean {
  if (answer.result) return namesModern(answer);
  const isRefused = namedRevisions(answer) !== undefined && !namesModern(answer);
  return modernErrorCodes.has(answer.error.code) && !isRefused;
}

/** Waits for an answer, and takes none in time for a no. */
function within(ms: number, answer: Promise<boolean>): Promise<boolean> {
  if (ms === Number.POSITIVE_INFINITY) return answer;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), ms);
  answer.then(resolve, () => resolve(false));
  return promise.finally(() => clearTimeout(timer));
}
