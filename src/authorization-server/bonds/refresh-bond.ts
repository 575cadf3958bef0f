import type { SealedBox } from '../../crypto/sealed-box.ts';
import { hashSecret } from '../../crypto/secret.ts';
import { StandingUnknown } from '../../oauth/standing-unknown.ts';
import type { ArtifactStore } from '../../storage/artifacts.ts';
import type { UpstreamStore } from '../../storage/upstreams.ts';
import type { Step } from '../endpoints/endpoint-guards.ts';
import { readFormBody } from '../endpoints/form-body.ts';
import { answerWithOAuthError } from '../endpoints/oauth-answer.ts';
import { grantKey, openPayload } from '../engine/stored-names.ts';
import { type LinkStanding, mayHonour } from './link-standing.ts';

/** What the step works with. */
export interface RefreshBondOptions {
  artifacts: Pick<ArtifactStore, 'find'>;
  upstreams: Pick<UpstreamStore, 'bondOf'>;
  box: SealedBox;
  standing: LinkStanding;
}

const kind = 'RefreshToken';

/**
 * Creates the step in front of the token endpoint that has the standing of a login at an upstream known before a refresh
 * token that hangs on it is honoured. Where it has ended, the grant is gone by then, and the engine refuses the token as
 * one of no grant; where nobody can tell, nothing is used up, and the same refresh may be sent again (A10-02, T-090).
 */
export function awaitBondOfRefresh({ artifacts, upstreams, box, standing }: RefreshBondOptions): Step {
  async function linkOf(refreshToken: string): Promise<string | undefined> {
    const row = await artifacts.find(kind, hashSecret(kind, refreshToken));
    if (!row) return undefined;
    const { grantId } = openPayload<{ grantId: string }>(box, kind, row);
    return (await upstreams.bondOf(grantKey(grantId)))?.linkId;
  }

  return async (ctx, next) => {
    const form = await readFormBody(ctx);
    if (!form) return;
    const refreshToken = form.get('grant_type') === 'refresh_token' ? form.get('refresh_token') : null;
    const linkId = refreshToken === null ? undefined : await linkOf(refreshToken);
    try {
      if (linkId !== undefined) await mayHonour(standing, linkId);
    } catch (error) {
      if (!(error instanceof StandingUnknown)) throw error;
      ctx.set('Retry-After', String(error.retryAfterSeconds));
      return answerWithOAuthError(ctx, 503, 'temporarily_unavailable', error.message);
    }
    await next();
  };
}
