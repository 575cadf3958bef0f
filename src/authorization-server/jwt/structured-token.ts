import type { Context } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';

/**
 * Whether the engine declined a request only because the token in it is a JWT. It says so after it has authenticated
 * the client and checked the parameters, so that what is left is ours to do.
 * @returns the client that asks, and the token; undefined for any other answer
 * @see RFC 7009 section 2.2.1 (`unsupported_token_type`)
 */
export function declinedJwt(ctx: Context): { clientId: string; method: string; token: string } | undefined {
  const { oidc } = ctx as Partial<KoaContextWithOIDC>;
  const { error } = (ctx.body ?? {}) as { error?: unknown };
  const token = oidc?.params?.token;
  if (ctx.status !== 400 || error !== 'unsupported_token_type' || !oidc?.client) return undefined;
  if (typeof token !== 'string') return undefined;
  const { clientId, clientAuthMethod } = oidc.client;
  return { clientId, method: String(clientAuthMethod), token };
}
