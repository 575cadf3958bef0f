import type { Context } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { AuditLog } from '../audit.ts';
import { createLimiter, type Limit } from '../limits.ts';
import { createReached, tellProgram } from './answers.ts';
import type { LimitName } from './endpoint-limit.ts';

/** Counts the tokens that are issued to one client for one account. */
export interface TokenLimit {
  /**
   * Counts an answer with tokens, before its commit. Beyond the limit the answer becomes a refusal: none of its writes
   * may be kept then.
   * @param isRepeated says whether the answer was given before; only asked beyond the limit
   */
  count(ctx: Context, isRepeated: () => Promise<boolean>): Promise<void>;
  /** Takes the count of this answer off again: its tokens were not issued. */
  giveBack(ctx: Context): Promise<void>;
}

/** The client of an answer, and the account it acts for: none where it acts for itself. */
function principalOf(ctx: Context): string {
  const { AccessToken: token, ClientCredentials: own } =
    (ctx as Partial<KoaContextWithOIDC>).oidc?.entities ?? {};
  return JSON.stringify([token?.accountId ?? '', (token ?? own)?.clientId ?? '']);
}

/**
 * Creates the limit of issued tokens. A client whose new tokens are refused somewhere asks for the next at once, thousands
 * of times a minute; it is slowed down, and nobody else is.
 * @param countLimited counts a refused request
 */
export function createTokenLimit(
  limit: Limit,
  audit: AuditLog,
  countLimited: (limit: LimitName) => void,
): TokenLimit {
  const issued = createLimiter(limit);
  const reached = createReached('tokensPerGrant', limit, countLimited);
  const counted = new WeakMap<Context, string>();
  return {
    async count(ctx, isRepeated) {
      const principal = principalOf(ctx);
      const waitSeconds = await issued.take(principal);
      if (waitSeconds === 0) {
        counted.set(ctx, principal);
        return;
      }
      if (await isRepeated()) return;
      await reached(principal, (details) => audit('limit.reached', ctx, details));
      tellProgram(ctx, waitSeconds, 'too many tokens were issued to this client for this account');
    },
    async giveBack(ctx) {
      const principal = counted.get(ctx);
      if (principal === undefined) return;
      counted.delete(ctx);
      await issued.giveBack(principal);
    },
  };
}
