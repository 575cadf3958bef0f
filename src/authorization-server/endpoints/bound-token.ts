import type { Context } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { ResourceRegistry } from '../resources.ts';
import { answerWithOAuthError } from './oauth-answer.ts';

/**
 * Refuses, in place of the engine's answer, to give out a bearer token for a resource that takes only tokens that are
 * bound to a key: the client learns here what it has to do, and has lost nothing.
 * @see RFC 9449 sections 5 and 7.1; RFC 9728 section 2 `dpop_bound_access_tokens_required` (A13-09)
 */
export function refuseUnboundToken(ctx: Context, resources: ResourceRegistry): void {
  const { AccessToken, ClientCredentials } = (ctx as Partial<KoaContextWithOIDC>).oidc?.entities ?? {};
  const token = AccessToken ?? ClientCredentials;
  if (ctx.status !== 200 || !token || token.jkt !== undefined) return;
  if (!resources.find(String(token.aud))?.dpopRequired) return;
  answerWithOAuthError(
    ctx,
    400,
    'invalid_dpop_proof',
    'this resource takes only access tokens that are bound to a key: send a DPoP proof',
  );
}
