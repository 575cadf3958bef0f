import type { Context } from 'koa';
import { keyedDigest } from '../../crypto/secret.ts';

/** How a repeated use of a refresh token differs from the first. Undefined where one of the two is not known. */
export interface RepeatDifference {
  /** Whether it comes from another address; an IPv6 address is compared by its /64. */
  address: boolean | undefined;
  /** Whether the client calls itself otherwise (`User-Agent`): another program, or another version of it. */
  userAgent: boolean | undefined;
}

/** Characters kept of a digest: 96 bits. */
const digestLength = 16;

/** What stands in the place of an address that is not known: nothing is said of it. */
const unknown = '-';

function digestsOf(ctx: Context, id: string, key: string): [address: string, userAgent: string] {
  const address: unknown = ctx.state.clientAddress;
  const isKnown = typeof address === 'string' && address !== 'unknown';
  const digest = (...parts: string[]): string =>
    keyedDigest(key, 'refresh source', id, ...parts).slice(0, digestLength);
  return [
    isKnown ? digest('address', address) : unknown,
    digest('user agent', ctx.req.headers['user-agent'] ?? ''),
  ];
}

/**
 * Describes where a refresh token is used from, for a later {@link compareSource}. The digests are keyed and of this token
 * alone: neither are they addresses, nor can two rows be linked by them (FA-10, T-213).
 * @param id hashed refresh token
 * @param keys of digests, the newest first
 */
export function describeSource(ctx: Context, id: string, [key = '']: readonly string[]): string {
  return digestsOf(ctx, id, key).join(' ');
}

/**
 * Compares a repeated use of a refresh token with the first use.
 * @param usedFrom what {@link describeSource} returned at the first use; undefined for one from before that was kept
 * @param keys all of which the first use may have been described with
 */
export function compareSource(
  ctx: Context,
  id: string,
  usedFrom: string | undefined,
  keys: readonly string[],
): RepeatDifference {
  const [address, userAgent] = usedFrom?.split(' ') ?? [];
  const now = keys.map((key) => digestsOf(ctx, id, key));
  const differs = (first: string | undefined, at: 0 | 1): boolean | undefined =>
    first === undefined || first === unknown || now.some((digests) => digests[at] === unknown)
      ? undefined
      : !now.some((digests) => digests[at] === first);
  return { address: differs(address, 0), userAgent: differs(userAgent, 1) };
}
