import type { Context, Next } from 'koa';
// Not the index of the package: it loads a limiter for each database.
import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js';
import RateLimiterRes from 'rate-limiter-flexible/lib/RateLimiterRes.js';

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
  /** Returns the seconds until there is room again without counting; 0 if there is room. */
  wait(key: string): Promise<number>;
  /** Returns true if no key was counted for a whole window, so that no key has to wait. */
  isIdle(): boolean;
  /** Takes one count off again: it turned out to be harmless. A key without counts is forgotten. */
  giveBack(key: string): Promise<void>;
  /** Forgets the key. */
  reset(key: string): Promise<void>;
}

/**
 * Creates a limiter in memory. `rate-limiter-flexible` because it counts atomically, has no dependencies and has the
 * same limiter over databases for later.
 */
export function createLimiter({ times, windowSeconds }: Limit): Limiter {
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
