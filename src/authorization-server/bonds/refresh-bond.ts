import { hashSecret } from '../../crypto/secret.ts';
import { TokenStatusUnknown } from '../../oauth/auth-info.ts';
import type { UpstreamStore } from '../../storage/upstreams.ts';
import type { Step } from '../endpoints/endpoint-guards.ts';
import { readFormBody } from '../endpoints/form-body.ts';
import { answerWithOAuthError } from '../endpoints/oauth-answer.ts';
import { type LinkStanding, mayHonour } from './link-standing.ts';

/** What the step works with. */
export interface RefreshBondOptions {
  upstreams: Pick<UpstreamStore, 'bondOfArtifact'>;
  standing: LinkStanding;
}

const kind = 'RefreshToken';

/**
 * Creates the step in front of the token endpoint that has the standing of a login at an upstream known before a refresh
 * token that hangs on it is honoured. Where it has ended, the grant is gone by then, and the engine refuses the token as
 * one of no grant; where nobody can tell, nothing is used up, and the same refresh may be sent again (A10-02, T-090).
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
