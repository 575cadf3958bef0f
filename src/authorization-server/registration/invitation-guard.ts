import type { Context } from 'koa';
import { hashSecret } from '../../crypto/secret.ts';
import type { InvitationStore } from '../../storage/clients.ts';
import type { Step } from '../endpoints/endpoint-guards.ts';
import { answerWithOAuthError } from '../endpoints/oauth-answer.ts';

/** The kind under which initial access tokens are hashed. */
const kind = 'InitialAccessToken';

/** @returns the stored name of an initial access token */
export function invitationId(token: string): string {
  return hashSecret(kind, token);
}

/** Where a request that was let in keeps the invitation it will use. */
export interface InvitedState {
  invitation?: string;
}

/**
 * Answers that a bearer token will not do (RFC 6750 section 3).
 * @param challenge what is challenged with; no error where no token was sent
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
