import type { KoaContextWithOIDC } from 'oidc-provider';
import { tokenExchangeGrant } from './exchange-rule.ts';

/** The party that acts for the subject of a token, with the previous actor (RFC 8693 section 4.1). */
export interface Actor {
  sub: string;
  act?: Actor;
}

/** Sets the actor of the token that the request is about to issue. */
export function nameActor(ctx: KoaContextWithOIDC, actor: Actor): void {
  ctx.state.actor = actor;
}

/** Returns the claim of a token that is issued for somebody who acts; undefined for every other token. */
export function actorClaim(ctx: KoaContextWithOIDC): { act: Actor } | undefined {
  const actor: Actor | undefined = ctx.state.actor;
  return actor && { act: actor };
}

/** Returns true if a token came by an exchange: its grant is not that of its own client, and does not end with it. */
export function isExchanged(token: object): boolean {
  return 'gty' in token && token.gty === tokenExchangeGrant;
}
