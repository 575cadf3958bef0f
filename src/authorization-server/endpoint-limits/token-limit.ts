import type { Context } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { setBounded } from '../../collections/caches.ts';
import type { AuditLog } from '../audit.ts';
import { createReached, type Limit, type Limiters, type LimitName } from '../limits.ts';
import { rejectAsJson } from './endpoint-limits.ts';

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

/** Returns the client and the account of a token response; the account is empty if the client acts for itself. */
function principalOf(ctx: Context): string {
  const { AccessToken: token, ClientCredentials: own } =
    (ctx as Partial<KoaContextWithOIDC>).oidc?.entities ?? {};
  return JSON.stringify([token?.accountId ?? '', (token ?? own)?.clientId ?? '']);
}

/**
 * Creates the limit of issued tokens. A client whose new tokens are rejected elsewhere may request new ones thousands
 * of times a minute. Only that client is slowed down.
 * @param countLimited counts a rejected request
 */
export function createTokenLimit(
  limit: Limit,
  audit: AuditLog,
  countLimited: (limit: LimitName) => void,
  limiters: Limiters,
): TokenLimit {
  const issued = limiters.ofLoad('tokensPerGrant', limit);
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
      rejectAsJson(ctx, waitSeconds, 'too many tokens were issued to this client for this account');
    },
    async giveBack(ctx) {
      const principal = counted.get(ctx);
      if (principal === undefined) return;
      counted.delete(ctx);
      await issued.giveBack(principal);
    },
  };
}

/** Takes note of calls that were accepted, which end a loop. */
export interface AcceptedCalls {
  /** True if any grant was refreshed since its last accepted call; if not, there is nothing to note. */
  readonly isNeeded: boolean;
  /** @param grantId the engine's id of the grant whose token was accepted; undefined for a token without one */
  note(grantId: string | undefined): void;
}

/** Counts refreshes between two accepted calls of a grant. */
export interface RefreshLoops extends AcceptedCalls {
  /**
   * Counts an answer to a refresh, before its commit. Beyond the limit the answer becomes a refusal.
   * @param presented digest of the refresh token: a client that sends one again, or several times at once, is in no loop
   */
  count(ctx: Context, presented: string): Promise<void>;
}

/** Parts of {@link createRefreshLoops}. */
export interface RefreshLoopOptions {
  limit: Limit;
  /** Returns true if calls with tokens for this resource are seen here. */
  isServedHere: (resource: string) => boolean;
  audit: AuditLog;
  /** Counts a refused request. */
  countLimited: (limit: LimitName) => void;
  /** Epoch seconds. */
  now: () => number;
}

/** Maximum number of counted grants; the oldest count is dropped first. */
const maxGrants = 10_000;

const loopReason =
  'this grant was refreshed again and again, and no call with its access tokens was accepted: they are for another server, or they are not sent. Log in again for the server that is called';

/**
 * Creates the count of refreshes without an accepted call. A client whose fresh token is refused if it sends it takes
 * that for an expired one and refreshes at once, a thousand times in seconds (FA-20). The refresh token stays good.
 */
export function createRefreshLoops(options: RefreshLoopOptions): RefreshLoops {
  const { limit, isServedHere, now } = options;
  const reached = createReached('refreshesWithoutCall', limit, options.countLimited);
  const grants = new Map<string, { times: number; last: string; endsAt: number }>();

  /** Forgets the windows that are over: they began in the order of the map. */
  function forgetOver(): void {
    for (const [grantId, { endsAt }] of grants) {
      if (endsAt > now()) return;
      grants.delete(grantId);
    }
  }

  return {
    get isNeeded() {
      return grants.size > 0;
    },
    note(grantId) {
      if (grantId !== undefined) grants.delete(grantId);
    },
    async count(ctx, presented) {
      const token = (ctx as Partial<KoaContextWithOIDC>).oidc?.entities?.AccessToken;
      if (!token?.grantId || !isServedHere(String(token.resourceServer?.audience ?? token.aud))) return;
      forgetOver();
      const { grantId } = token;
      const counted = grants.get(grantId) ?? { times: 0, last: '', endsAt: now() + limit.windowSeconds };
      if (counted.last === presented) return;
      if (counted.times < limit.times) {
        counted.times++;
        counted.last = presented;
        if (counted.times === 1) setBounded(grants, grantId, counted, maxGrants);
        return;
      }
      await reached(grantId, (details) => options.audit('limit.reached', ctx, details));
      rejectAsJson(ctx, Math.max(1, counted.endsAt - now()), loopReason);
    },
  };
}
