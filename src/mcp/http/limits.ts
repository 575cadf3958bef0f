import { InFlightMap } from '../../collections/in-flight-map.ts';
import type { Refusal } from './refusal.ts';

/** Counts the calls a principal has in flight, over all transports of an endpoint. */
export interface CallLimit {
  /**
   * Counts calls that begin, one by default.
   * @param principal see `principalKey`
   * @returns true if they may begin; if that would be too many, none is counted
   */
  begin(principal: string, calls?: number): boolean;
  /** Counts calls that ended, one by default. */
  end(principal: string, calls?: number): void;
}

/** A limit of calls that can also wait until none runs. */
export interface CallCount extends CallLimit {
  /**
   * Resolves when no call runs.
   * @param patienceMs maximum wait, in milliseconds; then it resolves although calls run
   */
  whenNoneRuns(patienceMs: number): Promise<void>;
  /** Returns the number of calls that run. */
  total(): number;
}

/**
 * Creates the count of calls in flight, so that one principal cannot keep a server busy alone.
 * @param max most calls of one principal at a time
 */
export function createCallLimit(max: number): CallCount {
  const running = new InFlightMap<string, number>();
  const waiting = new Set<() => void>();
  return {
    begin(principal, calls = 1) {
      const count = (running.get(principal) ?? 0) + calls;
      if (calls > 0 && count > max) return false;
      if (calls > 0) running.set(principal, count);
      return true;
    },
    end(principal, calls = 1) {
      const count = (running.get(principal) ?? 0) - calls;
      if (count > 0) running.set(principal, count);
      else running.delete(principal);
      if (running.size === 0) for (const resolve of waiting) resolve();
    },
    total: () => running.values().reduce((sum, count) => sum + count, 0),
    async whenNoneRuns(patienceMs) {
      if (running.size === 0 || patienceMs <= 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.add(resolve);
      const patience = setTimeout(resolve, patienceMs);
      await promise;
      clearTimeout(patience);
      waiting.delete(resolve);
    },
  };
}

/** Counts open streams that belong to no session. */
export interface StreamLimit {
  /** Counts a stream that opens. @returns the refusal if it may not */
  begin(principal: string): Refusal | undefined;
  /** Counts a stream that closed. */
  end(principal: string): void;
}

/** Creates the count of streams, of each principal and of all (T-144, T-145). */
export function createStreamLimit(maxPerPrincipal: number, maxTotal: number): StreamLimit {
  const own: CallLimit = createCallLimit(maxPerPrincipal);
  let total = 0;
  return {
    begin(principal) {
      if (total >= maxTotal) return { reason: 'sessions_exhausted', headers: { 'Retry-After': '60' } };
      if (!own.begin(principal)) return { reason: 'too_many_streams', headers: { 'Retry-After': '60' } };
      total++;
      return undefined;
    },
    end(principal) {
      own.end(principal);
      total--;
    },
  };
}

/** Deadlines that all lie equally far ahead. They do not keep the process alive. */
export class Deadlines {
  readonly #timeoutMs: number;

  /** @param timeoutMs in milliseconds */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Sets a deadline.
   * @param onEnd called once when the deadline has passed
   * @returns takes the deadline back
   */
  set(onEnd: () => void): () => void {
    const timer = setTimeout(onEnd, this.#timeoutMs).unref();
    return () => clearTimeout(timer);
  }
}
