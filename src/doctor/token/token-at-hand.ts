import { canonicalResource } from '../../oauth/resource-indicator.ts';
import { type Answer, ask } from '../ask.ts';
import { type Judgement, skip } from '../check.ts';
import { firstSession } from '../login/session.ts';
import { mcpRequest } from '../requests.ts';
import type { Subject } from '../subject.ts';

/** An access token for the checks. */
export type TokenAtHand =
  | {
      kind: 'held';
      accessToken: string;
      /** Resource of the token. */
      resource: string;
      issuer: string;
      /** Time at which this machine received it, in epoch seconds; absent for a stored login. */
      receivedAt?: number;
    }
  | { kind: 'missing'; judgement: Judgement };

async function keptToken(subject: Subject): Promise<TokenAtHand> {
  const server = canonicalResource(subject.url) ?? subject.url;
  const kept = await subject.login?.kept?.findCredential(server);
  const missing = (saw: string): TokenAtHand => ({ kind: 'missing', judgement: skip(saw) });
  if (kept === undefined)
    return missing(
      'No token is at hand: log in to this server before, or let the examination do it with --active.',
    );
  if (kept.dpopKey !== undefined) return missing('The kept login is bound to a key; it is not used here.');
  if (kept.expiresAt !== undefined && kept.expiresAt <= subject.context.now())
    return missing(
      'The token of the kept login has ended. It is not renewed by an examination; --active makes a login of its own.',
    );
  const { accessToken, resource, authorizationServer } = kept;
  return { kind: 'held', accessToken, resource, issuer: authorizationServer.issuer };
}

/**
 * Returns the token of the examination's own login if it may log in, or else that of a stored login. This is no probe,
 * because the token of a session changes.
 */
export async function tokenAtHand(subject: Subject): Promise<TokenAtHand> {
  if (!subject.active) return keptToken(subject);
  const session = await subject.fact(firstSession);
  if (session.kind === 'missing') return session;
  const { found, held, redemption } = session;
  return {
    kind: 'held',
    accessToken: held.accessToken,
    resource: found.resource,
    issuer: found.authorizationServer.issuer,
    receivedAt: Math.floor(redemption.atMs / 1000),
  };
}

/**
 * Returns the header with an access token.
 * @see RFC 6750 section 2.1
 */
export function bearer(accessToken: string): { authorization: string } {
  return { authorization: `Bearer ${accessToken}` };
}

/** Sends a ping with an access token. */
export function pingWith(subject: Subject, accessToken: string): Promise<Answer> {
  return ask(subject, subject.url, mcpRequest('ping', {}, bearer(accessToken)));
}

/**
 * Returns true if the MCP server accepts a token, whatever it answers.
 * @returns undefined if there is no response, or a 5xx
 */
export async function isTokenTaken(subject: Subject, accessToken: string): Promise<boolean | undefined> {
  const answer = await pingWith(subject, accessToken);
  if (answer.kind === 'unanswered' || answer.status >= 500) return undefined;
  return answer.status !== 401;
}
