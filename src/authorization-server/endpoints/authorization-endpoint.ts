import type { Context, Next } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { isPrivateUseRedirect } from '../../oauth/redirect-uri.ts';
import type { ArtifactStore } from '../../storage/artifacts.ts';
import { commitWrites } from '../engine/write-set.ts';
import { refuseResponse } from './authorization-request.ts';
import type { Step } from './endpoint-guards.ts';
import { answerWithErrorPage } from './error-page.ts';

/** Response modes we advertise; the others would need a script on a page of ours, or put answers into fragments (T-011). */
export const responseModes = ['query'] as const;

/** Answers go as a code, in the query: a page says so to whoever asks for another. */
export const checkResponseParameters: Step = async (ctx, next) => {
  const refusal = refuseResponse(ctx.query);
  if (refusal) return answerWithErrorPage(ctx, 400, refusal);
  await next();
};

/**
 * Whoever registers a client chooses where errors lead. Before a person has seen a page of ours, an error is shown
 * instead of redirected, with the way back as a link, so that no link to us is an open redirector (T-005; RFC 9700
 * section 4.11.2). `prompt=none` has no person to show anything to and is exempt there, unless the redirect would start a
 * program: nothing leads to a private-use scheme without a click of the person (T-214).
 */
export const showErrorBeforeRedirect: Step = async (ctx, next) => {
  await next();
  const asked = (ctx as Partial<KoaContextWithOIDC>).oidc?.params?.prompt ?? ctx.query.prompt;
  const silent = String(asked ?? '')
    .split(' ')
    .includes('none');
  const location = ctx.response.get('Location');
  const error = ctx.state.authorizationError as { error: string; error_description?: string } | undefined;
  if (!error || ctx.status !== 303 || location === '' || (silent && !isPrivateUseRedirect(location))) return;
  ctx.remove('Location');
  answerWithErrorPage(
    ctx,
    400,
    { code: error.error, description: error.error_description },
    { explanation: 'other', backTo: location },
  );
};

/**
 * Creates the step around the engine's authorization endpoint and its resumption. One commit per request: the
 * interaction that is taken up is removed in it, so that an approval gives one code (T-028). What was refused or lost
 * a race writes nothing and leaves the browser's cookies alone.
 */
export function createAuthorizationEndpoint(artifacts: ArtifactStore) {
  return async (ctx: Context, next: Next): Promise<void> => {
    const { result } = await commitWrites(artifacts, async (writes) => {
      await next();
      if (ctx.status >= 400) {
        writes.dropWrites();
        ctx.remove('Set-Cookie');
      }
      return ctx.status < 500;
    });
    // The engine answers with a page of its own, which needs a script, where another person has logged in meanwhile.
    if (result.committed && ctx.status !== 200) return;
    ctx.remove('Location');
    ctx.remove('Set-Cookie');
    answerWithErrorPage(ctx, 400, { code: 'invalid_request' }, { explanation: 'expired' });
  };
}
