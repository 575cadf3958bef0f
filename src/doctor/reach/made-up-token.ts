import { type Answer, ask } from '../ask.ts';
import type { Subject } from '../subject.ts';
import { firstRefusal } from './anonymous.ts';

/** A token that nobody issued, and looks like nothing. */
const opaque = 'gatehouse-doctor-made-this-up';

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url');
}

/** A token that nobody issued in the shape of a JWT: expired, of a key that nobody has. */
function madeUpJwt({ url }: Pick<Subject, 'url'>): string {
  const header = { alg: 'RS256', typ: 'at+jwt', kid: opaque };
  const claims = { iss: new URL(url).origin, aud: url, sub: opaque, iat: 0, exp: 1 };
  return [JSON.stringify(header), JSON.stringify(claims), opaque].map(base64url).join('.');
}

/** Response to a request with a made-up token that would be refused without a token. */
export interface MadeUpAnswers {
  /** With one that looks like nothing. */
  opaque: Answer;
  /** With one in the shape of a JWT. */
  jwt: Answer;
  /** With the first in the query. */
  query: Answer;
}

/**
 * Fact: responses to made-up tokens if a token is required; undefined if none is.
 * @param subject the server under examination
 * @see RFC 6750 section 3.1; RFC 7519 section 7.2
 */
export async function withMadeUpTokens(subject: Subject): Promise<MadeUpAnswers | undefined> {
  const refusal = await subject.fact(firstRefusal);
  if (refusal === undefined) return undefined;
  const inHeader = (token: string): Promise<Answer> =>
    ask(subject, subject.url, refusal.again({ authorization: `Bearer ${token}` }));
  const inQuery = new URL(subject.url);
  inQuery.searchParams.set('access_token', opaque);
  return {
    opaque: await inHeader(opaque),
    jwt: await inHeader(madeUpJwt(subject)),
    query: await ask(subject, inQuery.href, refusal.again()),
  };
}
