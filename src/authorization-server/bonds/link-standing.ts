import { hashSecret } from '../../crypto/secret.ts';
import { TokenStatusUnknown } from '../../oauth/auth-info.ts';
import type { UpstreamStore } from '../../storage/upstreams.ts';
import type { IssuedAccessTokens } from '../access-tokens.ts';
import { answerWithOAuthError, type Step } from '../endpoints/endpoint-guards.ts';
import { readFormBody } from '../endpoints/form-body.ts';

/** The standing of links to upstreams, which grants hang on. */
export interface LinkStanding {
  /** Returns true if a link stands at its upstream; if that is known, at once. */
  check(linkId: string): LinkWord | Promise<LinkWord>;
  /** Returns the seconds after which a link that is unavailable should be checked again. */
  retryAfterSeconds(linkId: string): number;
}

/**
 * `ended` if the upstream ended the login; `unavailable` if the upstream has not responded for longer than the grace
 * time.
 */
export type LinkWord = 'stands' | 'ended' | 'unavailable';

/**
 * Returns true if what hangs on a link may be honoured (A10-02, T-090).
 * @throws TokenStatusUnknown if nobody can tell
 */
export async function mayHonour(standing: LinkStanding, linkId: string): Promise<boolean> {
  const word = await standing.check(linkId);
  if (word !== 'unavailable') return word === 'stands';
  throw new TokenStatusUnknown(
    'The identity provider behind this login cannot be reached, so the login cannot be confirmed. Try again later.',
    standing.retryAfterSeconds(linkId),
  );
}

/**
 * Creates the access tokens as they are honoured: one whose grant hangs on a login at an upstream is found only while
 * that stands there; one that hangs on nothing is found as it is.
 * @returns `find` throws TokenStatusUnknown if nobody can tell
 * @see MCP authorization 2025-03-26 section 2.10.2 (A10-02, T-090)
 */
export function honourBonds(tokens: IssuedAccessTokens, standing: LinkStanding): IssuedAccessTokens {
  return {
    ...tokens,
    async find(token) {
      const issued = await tokens.find(token);
      if (issued?.bond === undefined) return issued;
      return (await mayHonour(standing, issued.bond.linkId)) ? issued : undefined;
    },
  };
}

/** Options of the step. */
export interface RefreshBondOptions {
  upstreams: Pick<UpstreamStore, 'bondOfArtifact'>;
  standing: LinkStanding;
}

const kind = 'RefreshToken';

/**
 * Creates the step in front of the token endpoint that has the standing of a login at an upstream known before a
 * refresh token that hangs on it is honoured. If it has ended, the grant is gone by then, and the engine refuses the
 * token as one of no grant; if nobody can tell, nothing is used up, and the same refresh may be sent again (A10-02,
 * T-090).
 */
export function awaitBondOfRefresh({ upstreams, standing }: RefreshBondOptions): Step {
  return async (ctx, next) => {
    const form = await readFormBody(ctx);
    if (!form) return;
    const refreshToken = form.get('grant_type') === 'refresh_token' ? form.get('refresh_token') : null;
    const bond =
      refreshToken === null
        ? undefined
        : await upstreams.bondOfArtifact(kind, hashSecret(kind, refreshToken));
    try {
      if (bond) await mayHonour(standing, bond.linkId);
    } catch (error) {
      if (!(error instanceof TokenStatusUnknown)) throw error;
      ctx.set('Retry-After', String(error.retryAfterSeconds));
      return answerWithOAuthError(ctx, 503, 'temporarily_unavailable', error.message);
    }
    await next();
  };
}
