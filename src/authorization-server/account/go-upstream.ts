import type { AuthorizationWishes, Upstream, Upstreams } from '../../upstream/upstream.ts';
import type { AuditLog } from '../audit.ts';
import type { BeginUpstream } from '../upstream-login/begin-upstream.ts';
import { failureOf, isUpstreamFault } from '../upstream-login/fault-of-upstream.ts';
import type { UpstreamPurpose } from '../upstream-login/purposes.ts';
import type { AccountRequest } from './account-request.ts';

/** What sends somebody on from the account pages. */
export interface GoUpstreamOptions {
  beginUpstream: BeginUpstream;
  audit: AuditLog;
}

/**
 * Sends somebody from the account pages on to an upstream.
 * @returns what to tell them where that cannot be done; undefined where they are on their way
 */
export async function goUpstream(
  { ctx, texts }: AccountRequest,
  { beginUpstream, audit }: GoUpstreamOptions,
  upstream: Upstream,
  purpose: Exclude<UpstreamPurpose, { purpose: 'authorization' }>,
  wishes: AuthorizationWishes,
): Promise<string | undefined> {
  const { name, label } = upstream;
  try {
    await beginUpstream(ctx, upstream, purpose, wishes);
    return undefined;
  } catch (error) {
    if (!isUpstreamFault(error)) throw error;
    audit('upstream.refused', ctx, {
      ...('accountId' in purpose ? { accountId: purpose.accountId } : undefined),
      upstream: name,
      purpose: purpose.purpose,
      reason: error.reason,
    });
    const isAway = failureOf(error) === 'unavailable';
    ctx.status = isAway ? 503 : 502;
    const words = texts.account.upstreams;
    return isAway ? words.away(label) : words.faulty(label);
  }
}

/**
 * What is said to somebody who comes back from an upstream that a query names; only names of upstreams that are there count.
 * @param words takes the label of the upstream
 * @param name value of the query's parameter
 */
export function sayOfUpstream(
  upstreams: Upstreams,
  words: (label: string) => string,
  name: unknown,
): string | undefined {
  const upstream = typeof name === 'string' ? upstreams.find(name) : undefined;
  return upstream && words(upstream.label);
}
