import { hashSecret } from '../../crypto/secret.ts';
import { TokenStatusUnknown } from '../../oauth/auth-info.ts';
import type { UpstreamStore } from '../../storage/upstreams.ts';
import type { IssuedAccessTokens } from '../access-tokens.ts';
import { answerWithOAuthError, type Step } from '../endpoints/endpoint-guards.ts';
import { readFormBody } from '../endpoints/form-body.ts';

/** State of the links to upstreams that grants depend on. */
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
 * Returns true if a grant or token that depends on an upstream link may be used (A10-02, T-090).
 * @throws TokenStatusUnknown if the state of the link is unknown
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
 * Limits access tokens by the upstream links of their grants: a token whose grant depends on a link is found only while
 * the link is valid. All other tokens are found as before.
 * @returns `find` throws TokenStatusUnknown if the state of the link is unknown
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
 * Creates a step of the token endpoint for refreshes: it checks the upstream link of a refresh token before the token is used. If the
 * link has ended, the grant is deleted first, and the engine rejects the token. If the state of the link is unknown,
 * nothing is consumed, and the client may repeat the request (A10-02, T-090).
 */
export function awaitBondOfRefresh({ upstreams, standing }: RefreshBondOptions): Step {
  return async (ctx, next) => {
    const form = await readFormBody(ctx);
    if (!form) return;
    const refreshToken = form.get('refresh_token');
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
