import type { UpstreamStore } from '../../storage/upstreams.ts';
import type { Upstream } from '../upstream.ts';
import { UpstreamFault } from '../upstream-fault.ts';
import type { BondEvents } from './bond-events.ts';

/** What became of a logout token: what ended by it, or why it was refused, by a name for the audit log. */
export type LogoutOutcome = { ended: { grants: number } } | { refused: string };

/** Logout tokens that were used, by the upstream and their `jti`. */
export interface UsedLogoutTokens {
  /** Whether it was used. */
  isUsed(upstream: string, jti: string): Promise<boolean>;
  /** Notes that it was used. @param expiresAt epoch seconds; until then it is remembered */
  use(upstream: string, jti: string, expiresAt: number): Promise<void>;
}

/** What back-channel logout works with. */
export interface BackChannelLogoutOptions {
  upstreams: { find(name: string): Pick<Upstream, 'name' | 'readLogoutToken'> | undefined };
  store: Pick<UpstreamStore, 'endSessions'>;
  used: UsedLogoutTokens;
  events: Pick<BondEvents, 'note'>;
}

/** Takes a logout token that was sent to an upstream's logout address. */
export type BackChannelLogout = (upstream: string, logoutToken: string) => Promise<LogoutOutcome>;

/**
 * Creates the taking of logout tokens: what came through the session that ended there ends here, in the commit before
 * the answer. It counts once; its use is noted when everything has ended, so that one that came while the database was
 * down can be sent again.
 * @see OpenID Connect Back-Channel Logout 1.0 sections 2.5 to 2.7 (T-091)
 */
export function createBackChannelLogout(options: BackChannelLogoutOptions): BackChannelLogout {
  const { upstreams, store, used, events } = options;

  function refuse(upstream: string, reason: string): LogoutOutcome {
    events.note('upstream.logout_refused', { upstream, reason });
    return { refused: reason };
  }

  return async (name, logoutToken) => {
    const upstream = upstreams.find(name);
    if (!upstream) return { refused: 'unknown_upstream' };
    const read = await upstream.readLogoutToken(logoutToken).catch((fault: unknown) => {
      if (fault instanceof UpstreamFault) return fault;
      throw fault;
    });
    if (read instanceof UpstreamFault) return refuse(name, read.reason);
    const { issuer, subject, sid, jti, expiresAt } = read;
    if (await used.isUsed(name, jti)) return refuse(name, 'logout_token_used');
    const which = sid === undefined ? { subject } : { sid, subject };
    const { grants } = await store.endSessions({ upstream: name, issuer, ...which });
    await used.use(name, jti, expiresAt);
    events.note('upstream.logout', {
      upstream: name,
      by: sid === undefined ? 'subject' : 'session',
      grants: String(grants),
    });
    return { ended: { grants } };
  };
}
