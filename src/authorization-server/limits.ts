import ipaddr from 'ipaddr.js';
import type { Context, Next } from 'koa';
// Not the index of the package: it loads a limiter for each database.
import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js';
import RateLimiterRes from 'rate-limiter-flexible/lib/RateLimiterRes.js';
import { memoizeLast } from '../collections/caches.ts';

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

/**
 * Creates a limiter for addresses, with a higher limit for addresses that many users share.
 * @param limit limit of an address of one customer
 * @param isShared returns true if many users share an address
 * @returns a limiter whose keys are an address, or begin with an address and a space
 */
export function createAddressLimiter(
  { times, windowSeconds }: Limit,
  isShared: (address: string) => boolean,
): Limiter {
  const usual = createLimiter({ times, windowSeconds });
  const shared = createLimiter({ times: times * sharedFactor, windowSeconds });
  const of = (key: string): Limiter => (isShared(key.split(' ', 1)[0] ?? '') ? shared : usual);
  return {
    take: (key) => of(key).take(key),
    wait: (key) => of(key).wait(key),
    isIdle: () => usual.isIdle() && shared.isIdle(),
    giveBack: (key) => of(key).giveBack(key),
    reset: (key) => of(key).reset(key),
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
