import type { Context } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';

/**
 * Whether a token that was asked about is left to us: the engine declined it because it is a JWT, which it says after it
 * has authenticated the client and checked the parameters; or it found nothing to do, and may know less than we.
 * @returns the client that asks, and the token; undefined where the engine's answer stands
 * @see RFC 7009 section 2.2.1 (`unsupported_token_type`)
 */
export function tokenLeftToUs(ctx: Context): { clientId: string; method: string; token: string } | undefined {
  const { oidc } = ctx as Partial<KoaContextWithOIDC>;
  const { error, active } = Object(ctx.body) as { error?: unknown; active?: unknown };
  const token = oidc?.params?.token;
  const isLeft =
    ctx.status === 200 ? active !== true : ctx.status === 400 && error === 'unsupported_token_type';
  if (!isLeft || !oidc?.client || typeof token !== 'string') return undefined;
  const { clientId, clientAuthMethod } = oidc.client;
  return { clientId, method: String(clientAuthMethod), token };
}

/** @returns the token that the engine has just called active; undefined where it has not */
export function activeToken(ctx: Context): string | undefined {
  const { active } = Object(ctx.body) as { active?: unknown };
  const token = (ctx as Partial<KoaContextWithOIDC>).oidc?.params?.token;
  return active === true && typeof token === 'string' ? token : undefined;
}
