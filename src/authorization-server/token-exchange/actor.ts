import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Actor } from '../../oauth/auth-info.ts';
import { tokenExchangeGrant } from './exchange-rule.ts';

/** Sets the actor of the token that the request is about to issue. */
export function nameActor(ctx: KoaContextWithOIDC, actor: Actor): void {
  ctx.state.actor = actor;
}

/** Time and methods of a login (RFC 9068 section 2.2.1). */
export interface LoginClaims {
  /** Epoch seconds. */
  auth_time?: number;
  amr?: string[];
}

/** Sets the login of the token that the request is about to issue, if neither code nor refresh token has it. */
export function nameLogin(ctx: KoaContextWithOIDC, login: LoginClaims): void {
  ctx.state.login = login;
}

/**
 * Returns the additional claims of an access token: who acts, and the login of its account.
 * @returns undefined if there are none, such as for a client that acts for itself
 */
export function extraClaims(ctx: KoaContextWithOIDC): Record<string, unknown> | undefined {
  const { actor, login }: { actor?: Actor; login?: LoginClaims } = ctx.state;
  const claims = { ...(actor && { act: actor }), ...(login ?? loginOfGrant(ctx)) };
  return Object.keys(claims).length > 0 ? claims : undefined;
}

function loginOfGrant({ oidc }: KoaContextWithOIDC): LoginClaims {
  const { AuthorizationCode, RefreshToken, DeviceCode } = oidc.entities;
  const { authTime, amr } = AuthorizationCode ?? RefreshToken ?? DeviceCode ?? {};
  return {
    ...(authTime !== undefined && { auth_time: authTime }),
    ...(amr !== undefined && { amr }),
  };
}

/** Returns true if a token came by an exchange: its grant is not that of its own client, and does not end with it. */
export function isExchanged(token: object): boolean {
  return 'gty' in token && token.gty === tokenExchangeGrant;
}
