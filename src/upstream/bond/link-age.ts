import type { UpstreamLinkRow } from '../../storage/upstreams.ts';

/** The times of a link, epoch seconds. */
export type LinkTimes = Pick<UpstreamLinkRow, 'provedAt' | 'expiresAt'>;

/**
 * How old what is known of a link is: `fresh`; `stale`, to be asked again by and by; `old`, not asked for so long that
 * nothing is said of it before it is; `expired`, where its access token has ended.
 */
export type LinkAge = 'fresh' | 'stale' | 'old' | 'expired';

/** How long before its end an access token is renewed, where nobody has to wait for it, in seconds. */
const aheadSeconds = 60;

/** An access token is not renewed ahead of its end so shortly after it was good, in seconds: some live for a minute. */
const calmSeconds = 30;

/**
 * Says how old what is known of a link is.
 * @param checkSeconds how long a good answer of the upstream is enough; after twice as long it is no answer any more
 * @param nowSeconds epoch seconds
 */
export function ageOf({ provedAt, expiresAt }: LinkTimes, checkSeconds: number, nowSeconds: number): LinkAge {
  if (expiresAt !== undefined && expiresAt <= nowSeconds) return 'expired';
  const age = nowSeconds - provedAt;
  if (age < checkSeconds) return 'fresh';
  return age < 2 * checkSeconds ? 'stale' : 'old';
}

/**
 * Whether the access token of a link ends so soon that it is renewed ahead.
 * @param nowSeconds epoch seconds
 */
export function endsSoon({ provedAt, expiresAt }: LinkTimes, nowSeconds: number): boolean {
  if (expiresAt === undefined || expiresAt - nowSeconds > aheadSeconds) return false;
  return nowSeconds - provedAt >= calmSeconds;
}
