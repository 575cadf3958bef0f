import type { Context, Next } from 'koa';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { ShareCounts } from '../collections/window-counts.ts';

/** A limit of frequency. */
export interface Limit {
  /** Times in a window. */
  times: number;
  /** Length of the window. */
  windowSeconds: number;
}

/** Counts by key. */
export interface Limiter {
  /** Counts one and gives 0, or, over the limit, counts nothing and gives the seconds until there is room again. */
  take(key: string): Promise<number>;
  /** Takes one count off again: it turned out to be harmless. A key without counts is forgotten. */
  giveBack(key: string): Promise<void>;
}

/** Counts guesses of secrets. An attempt that could not be counted must not be judged. */
export interface GuessLimiter extends Limiter {
  /** Forgets the key. */
  reset(key: string): Promise<void>;
}

/** Counts load. */
export interface LoadLimiter extends Limiter {
  /** Returns the seconds until there is room again without counting; 0 if there is room. */
  wait(key: string): Promise<number>;
  /** Returns true if no key was counted for a whole window, so that no key has to wait. */
  isIdle(): boolean;
}

/** The limiters of an installation. Those of one name count together, on all nodes. */
export interface Limiters {
  /**
   * Creates a limiter of guesses, exact over all nodes: each attempt is counted in the database before it is judged.
   * `take` throws StorageUnavailable if it cannot be counted.
   */
  ofGuesses(name: string, limit: Limit): GuessLimiter;
  /**
   * Creates a limiter of load. A node counts in memory and exchanges its counts with other nodes within a second: each
   * node may exceed the limit by what arrives there meanwhile, and by a hundredth.
   */
  ofLoad(name: string, limit: Limit): LoadLimiter;
  /** Returns the sharing of counts with other nodes, with the error of {@link ofLoad}; undefined if there are none. */
  sharing(name: string): ShareCounts | undefined;
  /** Shares the last counts. */
  close(): Promise<void>;
}

/** Limiters in the memory of this process. */
export const memoryLimiters: Limiters = {
  ofGuesses: (_, limit) => createLimiter(limit),
  ofLoad: (_, limit) => createLimiter(limit),
  sharing: () => undefined,
  close: async () => undefined,
};

/**
 * Creates a limiter in memory, of one process. `rate-limiter-flexible` because it counts atomically and has no
 * dependencies.
 */
export function createLimiter({ times, windowSeconds }: Limit): GuessLimiter & LoadLimiter {
  const limiter = new RateLimiterMemory({ points: times, duration: windowSeconds });
  const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));
  let idleFrom = Number.NEGATIVE_INFINITY;
  return {
    async take(key) {
      idleFrom = performance.now() + windowSeconds * 1000;
      try {
        await limiter.consume(key);
        return 0;
      } catch (refusal) {
        if (!(refusal instanceof RateLimiterRes)) throw refusal;
        await limiter.reward(key);
        return seconds(refusal.msBeforeNext);
      }
    },
    async wait(key) {
      const state = await limiter.get(key);
      return state && state.consumedPoints >= times ? seconds(state.msBeforeNext) : 0;
    },
    isIdle: () => performance.now() > idleFrom,
    async giveBack(key) {
      const state = await limiter.get(key);
      if (!state) return;
      if (state.consumedPoints > 1) await limiter.reward(key);
      else await limiter.delete(key);
    },
    async reset(key) {
      await limiter.delete(key);
    },
  };
}

/** The limits that refuse requests: those of the settings (429) by their names there, and the queue of passwords (503). */
export type LimitName =
  | 'registrations'
  | 'authorizations'
  | 'tokenFailures'
  | 'tokensPerGrant'
  | 'refreshesWithoutCall'
  | 'requests'
  | 'mcpRequests'
  | 'toolCalls'
  | 'passwordQueue';

/** A limit in front of an endpoint. */
export interface EndpointLimit {
  name: LimitName;
  step: (ctx: Context, next: Next) => Promise<void>;
}
