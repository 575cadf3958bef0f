import type { BackendFailure } from './backend-errors.ts';

/** First pauses of a failing program, in milliseconds. The pause is longer if each attempt takes long to fail. */
const firstWaitMs = 1000;
const firstWaitOfSilentMs = 10_000;
const longestWaitMs = 60_000;

/**
 * Failures are forgotten if a program ran for this long, or did not start again for this long after its pause, in
 * milliseconds.
 */
const forgivenMs = 60_000;

/** Number of crashes of a program that started well until the next restart is delayed. */
const freeEnds = 3;

/** A failure of a program, or of the start of a session at a server with a URL. */
export interface ProcessFailure {
  reason: BackendFailure;
  /** Milliseconds since its first response; undefined if it never responded. */
  stoodMs?: number;
  /** Start time of the failed attempt; an attempt that began before the last result counts for nothing. */
  begunMs: number;
}

/** Failures in a row. */
interface Failing {
  count: number;
  /** Number of failures of programs that do not respond to `initialize`. */
  silent: number;
  /** The last failure, and the end of the pause. */
  reason: BackendFailure;
  untilMs: number;
}

/** The last result of an account's attempts: a failure or a response. */
interface Outcome {
  notedMs: number;
  failing?: Failing;
}

/**
 * Remembers the failures of programs, separately for each account, and says how long the next start has to wait. It starts
 * nothing itself. After each of the first three crashes of a program that had started well, a request may start it again at
 * once. A program that does not start, or crashes again and again, waits twice as long each time, with jitter (T-155). The
 * same rules apply to a server with a URL that does not answer `initialize`.
 */
export class Restarts {
  readonly #nowMs: () => number;
  readonly #random: () => number;
  readonly #last = new Map<string, Outcome>();

  /** @param random returns a number from 0 to 1 */
  constructor(nowMs: () => number, random: () => number = Math.random) {
    this.#nowMs = nowMs;
    this.#random = random;
  }

  /** Returns the remaining pause of an account, and the reason; undefined if its program may start. */
  waiting(account: string): { waitMs: number; reason: BackendFailure } | undefined {
    const failing = this.#last.get(account)?.failing;
    const waitMs = (failing?.untilMs ?? 0) - this.#nowMs();
    return failing && waitMs > 0 ? { waitMs, reason: failing.reason } : undefined;
  }

  /** Takes note of a failure. */
  failed(account: string, { reason, stoodMs, begunMs }: ProcessFailure): void {
    this.#forgive();
    const nowMs = this.#nowMs();
    const last = this.#last.get(account);
    if (last && begunMs < last.notedMs) return;
    const known = last?.failing;
    const hasStood = stoodMs !== undefined && stoodMs >= forgivenMs;
    const count = hasStood ? 1 : (known?.count ?? 0) + 1;
    const isSilent = reason === 'backend_start_timed_out';
    const silent = (known?.silent ?? 0) + (isSilent ? 1 : 0);
    const doublings = isSilent ? silent - 1 : count - 1 - (stoodMs === undefined ? 0 : freeEnds);
    const firstMs = isSilent ? firstWaitOfSilentMs : firstWaitMs;
    const fullMs = doublings < 0 ? 0 : Math.min(longestWaitMs, firstMs * 2 ** doublings);
    const waitMs = fullMs * (0.75 + this.#random() / 4);
    this.#last.set(account, { notedMs: nowMs, failing: { count, silent, reason, untilMs: nowMs + waitMs } });
  }

  /** Takes note that a server has answered `initialize` for an account: earlier failures are forgotten. */
  succeeded(account: string): void {
    this.#forgive();
    this.#last.set(account, { notedMs: this.#nowMs() });
  }

  #forgive(): void {
    const before = this.#nowMs() - forgivenMs;
    for (const [account, { notedMs, failing }] of this.#last)
      if ((failing?.untilMs ?? notedMs) <= before) this.#last.delete(account);
  }
}
