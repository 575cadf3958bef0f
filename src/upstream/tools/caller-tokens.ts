import type { UpstreamStore } from '../../storage/upstreams.ts';
import type { CallerToken, LinkStatus } from '../links/link-status.ts';

/** Options of {@link createCallerTokens}. */
export interface CallerTokensOptions {
  links: Pick<UpstreamStore, 'findOfAccount' | 'wantScopes'>;
  standing: Pick<LinkStatus, 'tokensOf'>;
  /** Epoch seconds. */
  now: () => number;
}

/** Requirements for a token. */
export interface TokenRequirements {
  /** Scopes that it needs. */
  scopes: readonly string[];
  /** The generation that the API has just rejected. */
  after?: number;
}

/** A token, or why there is none: no link, missing scopes, or the upstream does not respond. */
export type CallerTokenAnswer = CallerToken | 'needs_link' | 'needs_scopes' | 'unavailable';

/** Returns access tokens of accounts at upstreams. */
export interface CallerTokens {
  /** Returns a usable token. Missing scopes are requested at the account's next login there (A10-02). */
  token(accountId: string, upstream: string, wishes: TokenRequirements): Promise<CallerTokenAnswer>;
  /**
   * Checks if there is a token with these scopes. It sends no request to the upstream, so that it may be
   * called often.
   */
  holds(accountId: string, upstream: string, scopes: readonly string[]): Promise<boolean>;
}

/**
 * Creates the tokens from the links and their status, which renews each token once for all callers (T-090).
 */
export function createCallerTokens({ links, standing, now }: CallerTokensOptions): CallerTokens {
  async function token(
    accountId: string,
    upstream: string,
    { scopes, after }: TokenRequirements,
  ): Promise<CallerTokenAnswer> {
    const link = await links.findOfAccount(accountId, upstream);
    if (!link?.tokens) return 'needs_link';
    const found = await standing.tokensOf(link.id, after === undefined ? {} : { after });
    if (found === 'unavailable') return found;
    if (found === 'none' || found === 'ended') return 'needs_link';
    const lacking = scopes.filter((scope) => !found.scopes.includes(scope));
    if (lacking.length === 0) return found;
    await links.wantScopes(link.id, lacking);
    return 'needs_scopes';
  }

  return {
    token,
    async holds(accountId, upstream, scopes) {
      const link = await links.findOfAccount(accountId, upstream);
      if (!link?.tokens || (link.expiresAt !== undefined && link.expiresAt <= now())) return false;
      const found = await standing.tokensOf(link.id);
      return typeof found === 'object' && scopes.every((scope) => found.scopes.includes(scope));
    },
  };
}
