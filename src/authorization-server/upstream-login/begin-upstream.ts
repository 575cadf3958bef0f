import type { Context } from 'koa';
import type { AuthorizationWishes, Upstream } from '../../upstream/upstream.ts';
import type { AuditLog } from '../audit.ts';
import { navigate } from '../interactions/page.ts';
import type { UpstreamPurpose } from './purposes.ts';
import type { UpstreamStates } from './upstream-states.ts';

/** Sends a browser to an upstream. */
export type BeginUpstream = (
  ctx: Context,
  upstream: Upstream,
  purpose: UpstreamPurpose,
  wishes: AuthorizationWishes,
) => Promise<void>;

/**
 * Creates what sends a browser to an upstream: the state is kept in the commit of the request and tied to the browser,
 * right before the redirect (A11-06). Whoever calls it has the approval of a person, posted from a page of ours.
 * @returns a function that answers the request; it throws UpstreamFault where the upstream cannot be asked
 */
export function createBeginUpstream(states: UpstreamStates, audit: AuditLog): BeginUpstream {
  return async (ctx, upstream, purpose, wishes) => {
    const { url, pending } = await upstream.begin(wishes);
    await states.keep(ctx, { upstream: upstream.name, purpose, pending });
    audit('upstream.begun', ctx, {
      upstream: upstream.name,
      purpose: purpose.purpose,
      ...(purpose.purpose === 'authorization' ? { clientId: purpose.clientId } : undefined),
      ...(purpose.purpose === 'link' ? { accountId: purpose.accountId } : undefined),
    });
    navigate(ctx, url);
  };
}
