import { createLimiter, type Limit, type Limiter } from '../limits.ts';
import { sharedFactor } from './shared-addresses.ts';

/**
 * Creates a limiter of what addresses do, which allows those that many people share more.
 * @param limit of an address of one customer
 * @param isShared says whether many people stand behind an address
 * @returns a limiter whose keys are an address, or begin with one and a space
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
