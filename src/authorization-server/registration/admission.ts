import type { Context } from 'koa';
import { errors } from 'oidc-provider';
import type { InvitationStore } from '../../storage/clients.ts';
import { answerWithOAuthError, type Step } from '../endpoints/endpoint-guards.ts';
import { invitationId } from '../engine/stored-rows.ts';

/**
 * Policy of client registration (RFC 7591 section 3): open to anybody; open, with the operator's approval of each
 * client before its first use; with an initial access token of the operator; or off.
 */
export type RegistrationPolicy = 'open' | 'approval' | 'initial_access_token' | 'off';

/**
 * A client that may not be used: it waits for the operator, or was denied. The engine looks for the client in every
 * request and throws it there. The code is `access_denied` at the token endpoint as well: `invalid_client` and
 * `unauthorized_client` make clients throw their registration away, and each new one would wait again.
 */
export class ClientNotAdmitted extends errors.OIDCProviderError {
  override name = 'ClientNotAdmitted';
  readonly clientId: string;
  readonly reason: 'pending' | 'denied';
  constructor(clientId: string, reason: 'pending' | 'denied') {
    super(403, 'access_denied');
    this.clientId = clientId;
    this.reason = reason;
    this.error_description =
      reason === 'pending'
        ? `the client ${clientId} waits for the approval of the operator of this server; log in again once it is given`
        : `the operator of this server does not allow the client ${clientId}`;
    this.expose = true;
    this.allow_redirect = false;
  }
}

/** State of an admitted request, with the invitation that it will use up. */
export interface InvitedState {
  invitation?: string;
}

/**
 * Responds that a bearer token is not valid (RFC 6750 section 3).
 * @param challenge the challenge; without an error if no token was sent
 */
export function refuseToken(
  ctx: Context,
  description: string,
  challenge = 'Bearer error="invalid_token"',
): void {
  ctx.set('WWW-Authenticate', challenge);
  answerWithOAuthError(ctx, 401, 'invalid_token', description);
}

/**
 * Creates the step that lets in who has an initial access token of the operator (RFC 7591 section 3). It is used up by
 * the commit of the registration, so that of many requests with one token as many succeed as it says (T-065).
 * @param now epoch seconds
 */
export function requireInvitation(invitations: InvitationStore, now: () => number): Step {
  return async (ctx, next) => {
    const [, token] = /^Bearer +([\w.~+/-]+=*)$/i.exec(ctx.get('Authorization')) ?? [];
    if (token === undefined)
      return refuseToken(
        ctx,
        'registering here needs an initial access token: ask the operator of this server for one, or for a client id',
        'Bearer',
      );
    const id = invitationId(token);
    const invitation = await invitations.find(id);
    if (!invitation || invitation.usesLeft === 0 || invitation.expiresAt <= now())
      return refuseToken(ctx, 'this initial access token is unknown, used up or has expired');
    (ctx.state as InvitedState).invitation = id;
    await next();
  };
}
