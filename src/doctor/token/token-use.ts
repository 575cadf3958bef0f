import { type Answer, ask } from '../ask.ts';
import { mcpRequest } from '../requests.ts';
import type { Subject } from '../subject.ts';

/**
 * The field that carries an access token.
 * @param accessToken the token
 * @see RFC 6750 section 2.1
 */
export function bearer(accessToken: string): { authorization: string } {
  return { authorization: `Bearer ${accessToken}` };
}

/**
 * Sends a ping with an access token.
 * @param subject the server under examination
 * @param accessToken the token
 */
export function pingWith(subject: Subject, accessToken: string): Promise<Answer> {
  return ask(subject, subject.url, mcpRequest('ping', {}, bearer(accessToken)));
}

/**
 * Returns true if the MCP server takes a token, whatever it says to the request itself.
 * @param subject the server under examination
 * @param accessToken the token
 * @returns undefined if no answer came, or a 5xx
 */
export async function isTokenTaken(subject: Subject, accessToken: string): Promise<boolean | undefined> {
  const answer = await pingWith(subject, accessToken);
  if (answer.kind === 'unanswered' || answer.status >= 500) return undefined;
  return answer.status !== 401;
}
