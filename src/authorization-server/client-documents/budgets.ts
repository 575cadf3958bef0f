import type { IncomingHttpHeaders } from 'node:http';
import { networkOf } from '../../net/address.ts';
import { createAddressLimiter, createSharedAddresses, type Limit, memoryLimiters } from '../limits.ts';
import { DocumentRefused } from './document.ts';

/** Limits of document fetches on behalf of others. */
export interface DocumentLimits {
  /** Documents unknown here that one network address may have fetched. */
  perAddress: Limit;
  /** Addresses and ranges behind which many people stand; none by default. */
  sharedAddresses?: readonly string[];
  /** Fetches from one host, and from one network, whoever is behind them. */
  perTarget: Limit;
}

/**
 * Creates the budgets that keep us from being an amplifier: anybody may name any URL, and each makes a request to its
 * host (T-076). Documents that were good before have a budget of their own, so that a flood of invented URLs at a host
 * does not lock out those who use its true ones.
 * @param createLimiter creates the limiter of a name; in memory by default
 */
export function createBudgets(
  { perAddress, sharedAddresses = [], perTarget }: DocumentLimits,
  createLimiter = memoryLimiters.ofLoad,
) {
  const ofAddress = createAddressLimiter(perAddress, createSharedAddresses(sharedAddresses), (limit) =>
    createLimiter('address', limit),
  );
  const ofUnknown = createLimiter('unknown', perTarget);
  const ofKnown = createLimiter('known', perTarget);

  function refuse(retryAfterSeconds: number, from: string): never {
    throw new DocumentRefused(
      `too many descriptions of apps were asked for ${from}; try again in ${retryAfterSeconds} seconds`,
      { retryAfterSeconds, isOurLimit: true },
    );
  }

  async function takeForTargets(targets: readonly string[], isKnown: boolean): Promise<void> {
    const limiter = isKnown ? ofKnown : ofUnknown;
    for (const target of new Set(targets)) {
      const wait = await limiter.take(target);
      if (wait > 0) refuse(wait, 'at this host');
    }
  }

  return {
    /** Counts a fetch of an unknown document on the account of who asked. @throws DocumentRefused beyond the budget */
    async takeForAddress(address: string): Promise<void> {
      const wait = await ofAddress.take(address);
      if (wait > 0) refuse(wait, 'from this address');
    },
    /** Counts a fetch on the account of its host, before anybody is asked for its address. @throws DocumentRefused beyond the budget */
    takeForHost: (host: string, isKnown: boolean): Promise<void> => takeForTargets([host], isKnown),
    /**
     * Counts a fetch on the account of every network the host is in, so that many names for one machine are one target.
     * @throws DocumentRefused beyond the budget
     */
    takeForNetworks: (addresses: readonly string[], isKnown: boolean): Promise<void> =>
      takeForTargets(addresses.map(networkOf), isKnown),
  };
}

/** Bounds of the time that a document is used without a new fetch, in seconds, whatever its server says (T-075). */
export const freshnessBounds = { atLeast: 30, unsaid: 300, atMost: 86_400 } as const;

/** The value of a Cache-Control directive: undefined if it is not there, '' if it has none. */
function directive(cacheControl: string, name: string): string | undefined {
  const found = new RegExp(`(?:^|,)\\s*${name}\\s*(?:=\\s*"?(\\d*)"?)?\\s*(?:,|$)`, 'i').exec(cacheControl);
  return found ? (found[1] ?? '') : undefined;
}

function saidFreshness(headers: IncomingHttpHeaders, nowSeconds: number): number | undefined {
  const control = headers['cache-control'] ?? '';
  if (directive(control, 'no-store') !== undefined || directive(control, 'no-cache') !== undefined) return 0;
  const maxAge = directive(control, 's-maxage') || directive(control, 'max-age');
  if (maxAge) return Number(maxAge) - (Number(headers.age) || 0);
  if (headers.expires === undefined) return undefined;
  const expires = Date.parse(headers.expires);
  const since = Date.parse(headers.date ?? '');
  // An Expires that is no date means the past (RFC 9111 section 5.3).
  return Number.isNaN(expires) ? 0 : (expires - (Number.isNaN(since) ? nowSeconds * 1000 : since)) / 1000;
}

/**
 * Returns how long a document is fresh by what its server says, within our bounds (RFC 9111 section 4.2.1; A5-08).
 * @param headers of the answer
 * @param nowSeconds epoch seconds
 * @returns whole seconds
 */
export function freshSeconds(headers: IncomingHttpHeaders, nowSeconds: number): number {
  const said = saidFreshness(headers, nowSeconds) ?? freshnessBounds.unsaid;
  return Math.floor(Math.min(freshnessBounds.atMost, Math.max(freshnessBounds.atLeast, said)));
}
