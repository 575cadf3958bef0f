import { quote } from '../../client/quote.ts';
import { type Answer, ask, describeAnswer } from '../ask.ts';
import { type Check, fail, type Judgement, pass, skip, unknown, warn } from '../check.ts';
import type { Subject } from '../subject.ts';
import { challengedMetadata, firstRefusal, isServed, type Refusal } from './anonymous.ts';
import { asksForToken } from './challenge-checks.ts';

const noRefusal = skip('The server refuses nobody.');

/** Returns the fault of a response to a made-up token; undefined if the response is correct. */
function faultOf(token: string, answer: Answer, refusal: Refusal): Judgement | undefined {
  const { evidence } = answer;
  if (answer.kind === 'unanswered') return unknown(`${token}: ${describeAnswer(answer)}.`, { evidence });
  const found = answer.headers.get('www-authenticate') ?? '';
  if (answer.status !== 401)
    return fail(
      `${token} is answered with ${describeAnswer(answer)}.`,
      isServed(answer)
        ? 'Verify access tokens: as it is, the server takes any.'
        : 'Answer 401 with error="invalid_token", so that clients refresh or log in again.',
      { evidence },
    );
  if (found === '' && refusal.header === null)
    return skip('The server never sends WWW-Authenticate.', { because: 'CHALLENGE-HEADER', evidence });
  if (!asksForToken(refusal))
    return skip('The server never asks for a bearer token.', { because: 'CHALLENGE-SCHEME', evidence });
  const named = challengedMetadata(refusal);
  if (named !== undefined && !found.includes(named))
    return warn(
      `${token}: resource_metadata is not ${quote(named)} as without one: ${quote(found)}.`,
      'Send the same resource_metadata with every 401.',
      { evidence },
    );
  if (/error="?invalid_token/i.test(found)) return undefined;
  return warn(
    `${token} is answered with 401, but without error="invalid_token": ${quote(found)}.`,
    'Add error="invalid_token" where a token was sent: clients tell by it that a refresh may help. A server that does so already never saw the token: let Authorization through what stands in front (--proxy looks there).',
    { evidence },
  );
}

/** Checks that an invalid token is rejected as such. */
const badToken: Check = {
  id: 'CHALLENGE-BAD-TOKEN',
  section: 'reach',
  title: 'A token that nobody issued is answered with 401 and error="invalid_token"',
  clause: 'RFC 6750 section 3.1; RFC 9728 section 5.1',
  needs: ['CHALLENGE-STATUS'],
  async judge(subject) {
    const refusal = await subject.fact(firstRefusal);
    const answers = await subject.fact(withMadeUpTokens);
    if (!refusal || !answers) return noRefusal;
    const { opaque, jwt } = answers;
    return (
      faultOf('A made-up token', opaque, refusal) ??
      faultOf('A made-up token in the shape of a JWT', jwt, refusal) ??
      pass('Made-up tokens, also in the shape of a JWT, are answered with 401 and error="invalid_token".', {
        evidence: [...opaque.evidence, ...jwt.evidence],
      })
    );
  },
};

/** Checks that a token in the URL is rejected: URLs are logged everywhere. */
const queryToken: Check = {
  id: 'CHALLENGE-QUERY-TOKEN',
  section: 'reach',
  title: 'A token in the query counts for nothing',
  clause: 'MCP authorization "Token Requirements"; RFC 6750 section 2.3',
  needs: ['CHALLENGE-BAD-TOKEN'],
  async judge(subject) {
    const refusal = await subject.fact(firstRefusal);
    const answers = await subject.fact(withMadeUpTokens);
    if (!refusal || !answers) return noRefusal;
    const { opaque: inHeader, query: inQuery } = answers;
    const evidence = [...refusal.answer.evidence, ...inHeader.evidence, ...inQuery.evidence];
    if (inQuery.kind === 'unanswered' || inHeader.kind === 'unanswered')
      return unknown(describeAnswer(inQuery), { evidence });
    if (inQuery.status === 400) return pass('A token in the query is answered with 400.', { evidence });
    const isInvalid = /error="?invalid_token/i;
    const query = inQuery.headers.get('www-authenticate') ?? '';
    if (inQuery.status < 300 || isInvalid.test(query))
      return fail(
        `access_token in the query is answered with ${inQuery.status}${query === '' ? '' : ` ${quote(query)}`}: the server reads tokens from the URL, where logs and histories keep them.`,
        'Take tokens from the Authorization header only.',
        { evidence },
      );
    if (!isInvalid.test(inHeader.headers.get('www-authenticate') ?? ''))
      return unknown('The server answers every refusal alike, so that nobody can tell whether it looked.', {
        evidence,
      });
    return pass('access_token in the query is answered as if there were no token.', { evidence });
  },
};

/** Checks of the responses to invalid tokens. */
export const badTokenChecks: readonly Check[] = [badToken, queryToken];

/** An invalid token of no known form. */
const opaque = 'gatehouse-doctor-made-this-up';

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url');
}

/** Builds an invalid token in the form of a JWT: expired, and signed with an unknown key. */
function madeUpJwt({ url }: Pick<Subject, 'url'>): string {
  const header = { alg: 'RS256', typ: 'at+jwt', kid: opaque };
  const claims = { iss: new URL(url).origin, aud: url, sub: opaque, iat: 0, exp: 1 };
  return [JSON.stringify(header), JSON.stringify(claims), opaque].map(base64url).join('.');
}

/** Responses to invalid tokens. */
interface MadeUpAnswers {
  /** To a token of no known form. */
  opaque: Answer;
  /** To a token in the form of a JWT. */
  jwt: Answer;
  /** To the first token in the query. */
  query: Answer;
}

/**
 * Fact: the responses to invalid tokens; undefined if no token is required.
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
