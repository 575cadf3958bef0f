import ipaddr from 'ipaddr.js';
import type { Context, Next } from 'koa';
// Not the index of the package: it loads a limiter for each database.
import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js';
import RateLimiterRes from 'rate-limiter-flexible/lib/RateLimiterRes.js';
import { memoizeLast } from '../collections/caches.ts';
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

/**
 * Creates a limiter for addresses, with a higher limit for addresses that many users share.
 * @param limit limit of an address of one customer
 * @param isShared returns true if many users share an address
 * @param create creates the limiter of a limit; in memory by default
 * @returns a limiter whose keys are an address, or begin with an address and a space
 */
export function createAddressLimiter(
  { times, windowSeconds }: Limit,
  isShared: (address: string) => boolean,
  create: (limit: Limit) => LoadLimiter = createLimiter,
): LoadLimiter {
  const usual = create({ times, windowSeconds });
  const shared = create({ times: times * sharedFactor, windowSeconds });
  const of = (key: string): LoadLimiter => (isShared(key.split(' ', 1)[0] ?? '') ? shared : usual);
  return {
    take: (key) => of(key).take(key),
    wait: (key) => of(key).wait(key),
    isIdle: () => usual.isIdle() && shared.isIdle(),
    giveBack: (key) => of(key).giveBack(key),
  };
}

/** Multiplier of the limits for an address that many users share. */
const sharedFactor = 20;

/** An IPv6 address counts by its /64, so a narrower range stands for the /64 it is in. */
const widestCountedBits = 64;

function parseRange(range: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  if (!range.includes('/')) {
    const address = ipaddr.process(range);
    return [address, address.kind() === 'ipv4' ? 32 : widestCountedBits];
  }
  const [address, bits] = ipaddr.parseCIDR(range);
  return [address, address.kind() === 'ipv4' ? bits : Math.min(bits, widestCountedBits)];
}

/**
 * Creates the check if many users share an address: hosted clients send the requests of all their users from few
 * addresses.
 * @param ranges addresses and CIDR ranges
 * @returns a function of an IPv4 address, or of the /64 of an IPv6 address
 */
export function createSharedAddresses(ranges: readonly string[]): (address: string) => boolean {
  const parsed = ranges.map(parseRange);
  const isInRange = (counted: string): boolean => {
    const written = counted.replace(/\/64$/, '');
    if (parsed.length === 0 || !ipaddr.isValid(written)) return false;
    const address = ipaddr.process(written);
    return parsed.some(
      ([range, bits]) => range.kind() === address.kind() && address.match(range as ipaddr.IPv4, bits),
    );
  };
  return memoizeLast(isInRange);
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

/** Takes note that a request was refused, because a limit was reached. */
export type NoteReached = (
  /** Key of the limit: the address or the principal. */
  key: string,
  /** Writes it down; not asked more than once for a key and window. */
  write: (details: { limit: LimitName }) => void,
) => Promise<void>;

/**
 * Creates the note of a limit. Each refused request is counted, and one in a window is written down for each key: who
 * sends a flood does not fill the log with it.
 * @param count counts a refused request, by the name of the limit
 */
export function createReached(
  limit: LimitName,
  { windowSeconds }: Limit,
  count: (limit: LimitName) => void,
): NoteReached {
  const written = createLimiter({ times: 1, windowSeconds });
  return async (key, write) => {
    count(limit);
    if ((await written.take(key)) === 0) write({ limit });
  };
}
