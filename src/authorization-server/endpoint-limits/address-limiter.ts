import ipaddr from 'ipaddr.js';
import { memoizeLast } from '../../collections/caches.ts';
import { createLimiter, type Limit, type LoadLimiter } from '../limits.ts';

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
