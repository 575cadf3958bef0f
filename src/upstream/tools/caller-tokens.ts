import type { UpstreamStore } from '../../storage/upstreams.ts';
import type { CallerToken, Standing } from '../bond/standing.ts';

/** What tokens of accounts are read from. */
export interface CallerTokensOptions {
  links: Pick<UpstreamStore, 'findOfAccount' | 'wantScopes'>;
  standing: Pick<Standing, 'tokensOf'>;
  /** Epoch seconds. */
  now: () => number;
}

/** What a call needs of a token. */
export interface TokenWishes {
  /** What it must have been given for. */
  scopes: readonly string[];
  /** The generation that the API has just refused. */
  after?: number;
}

/** A token, or why there is none: nothing linked, not given for enough, or the upstream does not answer. */
export type CallerTokenAnswer = CallerToken | 'needs_link' | 'needs_scopes' | 'unavailable';

/** Gives access tokens of accounts at upstreams. */
export interface CallerTokens {
  /** Gives one that can be used now. Scopes it lacks are asked for from then on, wherever the account goes there (A10-02). */
  token(accountId: string, upstream: string, wishes: TokenWishes): Promise<CallerTokenAnswer>;
  /** Whether there is one by now that was given for enough. The upstream is asked nothing: it may be looked often. */
  holds(accountId: string, upstream: string, scopes: readonly string[]): Promise<boolean>;
}

/** Creates it over the links and their standing, which renews each token once for all who ask (T-090). */
export function createCallerTokens({ links, standing, now }: CallerTokensOptions): CallerTokens {
  async function token(
    accountId: string,
    upstream: string,
    { scopes, after }: TokenWishes,
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
