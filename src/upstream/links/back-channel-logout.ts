import type { UpstreamStore } from '../../storage/upstreams.ts';
import type { Upstream } from '../upstream.ts';
import { UpstreamFault } from '../upstream-fault.ts';
import type { LinkEvents } from './link-events.ts';

/**
 * The result of a logout token: the number of ended grants, or the reason of its rejection for the audit log.
 */
export type LogoutOutcome = { ended: { grants: number } } | { refused: string };

/** Used logout tokens, by upstream and `jti`. */
export interface UsedLogoutTokens {
  isUsed(upstream: string, jti: string): Promise<boolean>;
  /**
   * Records the use of a logout token.
   * @param expiresAt epoch seconds; until then it is remembered
   */
  use(upstream: string, jti: string, expiresAt: number): Promise<void>;
}

/** Options of {@link createBackChannelLogout}. */
export interface BackChannelLogoutOptions {
  upstreams: { find(name: string): Pick<Upstream, 'name' | 'readLogoutToken'> | undefined };
  store: Pick<UpstreamStore, 'endSessions'>;
  used: UsedLogoutTokens;
  events: Pick<LinkEvents, 'note'>;
}

/** Handles a logout token that was sent to an upstream's logout address. */
export type BackChannelLogout = (upstream: string, logoutToken: string) => Promise<LogoutOutcome>;

/**
 * Creates the handler of logout tokens: the grants and logins of the ended session end before the response. A
 * token is accepted once. Its use is recorded after everything has ended, so that a token can be sent again
 * if the database was down.
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
