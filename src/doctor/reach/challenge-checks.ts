import { quote } from '../../client/quote.ts';
import { protectedResourceMetadataUrl } from '../../oauth/well-known.ts';
import type { Check } from '../check.ts';
import { describeAnswer } from '../describe-answer.ts';
import { fail, pass, skip, unknown, warn } from '../judgements.ts';
import type { Subject } from '../subject.ts';
import {
  challengedMetadata,
  firstRefusal,
  type Refusal,
  withBadToken,
  withTokenInQuery,
} from './anonymous.ts';
import { findGrammarFault } from './challenge-grammar.ts';

const noRefusal = skip('The server refuses nobody.');

async function refusalOf(subject: Subject): Promise<Refusal | undefined> {
  return subject.fact(firstRefusal);
}

/** The line that a sound server sends. */
function soundLine(url: string): string {
  return `WWW-Authenticate: Bearer resource_metadata="${protectedResourceMetadataUrl(url)}"`;
}

/** The refusal says what to do. */
const header: Check = {
  id: 'CHALLENGE-HEADER',
  section: 'reach',
  title: 'The refusal carries WWW-Authenticate',
  clause: 'RFC 9110 section 11.6.1; RFC 6750 section 3',
  needs: ['CHALLENGE-STATUS'],
  async judge(subject) {
    const refusal = await refusalOf(subject);
    if (!refusal) return noRefusal;
    const { answer } = refusal;
    if (refusal.header !== null)
      return pass(`WWW-Authenticate: ${quote(refusal.header)}`, { evidence: answer.evidence });
    return fail(
      `${answer.method} is answered with 401 and no WWW-Authenticate.`,
      `Send ${soundLine(subject.url)}. If the server does, something in front of it takes the field away.`,
      { evidence: answer.evidence },
    );
  },
};

/** It can be read. */
const grammar: Check = {
  id: 'CHALLENGE-GRAMMAR',
  section: 'reach',
  title: 'WWW-Authenticate follows its grammar',
  clause: 'RFC 9110 section 11.6.1',
  needs: ['CHALLENGE-HEADER'],
  async judge(subject) {
    const refusal = await refusalOf(subject);
    if (!refusal?.header) return noRefusal;
    const fault = findGrammarFault(refusal.header);
    if (!fault) return pass(`${refusal.challenges.length} challenge(s), each as the grammar wants it.`);
    return fail(
      `At character ${fault.position} of ${quote(refusal.header)} ${fault.what}. Each client reads that in its own way.`,
      `Put values in double quotes and commas between parameters: ${soundLine(subject.url)}`,
    );
  },
};

/** It asks for what clients have. */
const scheme: Check = {
  id: 'CHALLENGE-SCHEME',
  section: 'reach',
  title: 'The challenge asks for a bearer or DPoP token',
  clause: 'RFC 6750 section 3; RFC 9449 section 7.1',
  needs: ['CHALLENGE-HEADER'],
  async judge(subject) {
    const refusal = await refusalOf(subject);
    if (!refusal?.header) return noRefusal;
    const schemes = refusal.challenges.map((challenge) => challenge.scheme);
    if (schemes.some((one) => one === 'bearer' || one === 'dpop'))
      return pass(`It offers ${schemes.join(', ')}.`);
    return fail(
      `It offers ${schemes.map(quote).join(', ') || 'nothing'}, and no Bearer.`,
      schemes.includes('basic') || schemes.includes('negotiate')
        ? 'Something in front of the server asks for a password of its own: take the MCP endpoint and /.well-known/* out of it.'
        : `Send ${soundLine(subject.url)}`,
    );
  },
};

/** It leads to the metadata. */
const metadata: Check = {
  id: 'CHALLENGE-METADATA',
  section: 'reach',
  title: 'The challenge names the protected resource metadata by an absolute URL of the same origin',
  clause: 'RFC 9728 section 5.1; MCP authorization 2025-06-18 "Authorization Server Location"',
  needs: ['CHALLENGE-SCHEME', 'CHALLENGE-GRAMMAR'],
  async judge(subject) {
    const refusal = await refusalOf(subject);
    if (!refusal?.header) return noRefusal;
    const named = challengedMetadata(refusal);
    const add = `Add resource_metadata="${protectedResourceMetadataUrl(subject.url)}" to the challenge.`;
    if (named === undefined)
      return warn('The challenge has no resource_metadata; clients of 2025-06-18 look nowhere else.', add);
    const url = URL.parse(named);
    if (!url || !/^https?:$/.test(url.protocol))
      return fail(`resource_metadata is ${quote(named)}, which is no absolute URL.`, add);
    const { origin } = new URL(subject.url);
    if (url.origin !== origin)
      return fail(
        `resource_metadata is ${quote(named)}, on another origin than the server (${origin}). Careful clients do not fetch it.`,
        `${add} Behind a proxy, build it from the public URL and not from the Host that arrives.`,
      );
    return pass(`resource_metadata is ${quote(named)}.`);
  },
};

/** It says which scopes. */
const scope: Check = {
  id: 'CHALLENGE-SCOPE',
  section: 'reach',
  title: 'The challenge names the scopes to ask for first',
  clause: 'MCP authorization "Scope Selection Strategy"; RFC 6750 section 3',
  needs: ['CHALLENGE-SCHEME'],
  async judge(subject) {
    const refusal = await refusalOf(subject);
    if (!refusal?.header) return noRefusal;
    const named = refusal.challenges.find(({ parameters }) => parameters.scope !== undefined)?.parameters
      .scope;
    if (named !== undefined) return pass(`scope is ${quote(named)}.`);
    return warn(
      'The challenge names no scope: clients then ask for all of scopes_supported, or for none.',
      'Add scope="..." with what a first use needs.',
    );
  },
};

/** A bad token is refused as such. */
const badToken: Check = {
  id: 'CHALLENGE-BAD-TOKEN',
  section: 'reach',
  title: 'A token that nobody issued is answered with 401 and error="invalid_token"',
  clause: 'RFC 6750 section 3.1; RFC 9728 section 5.1',
  needs: ['CHALLENGE-STATUS'],
  async judge(subject) {
    const refusal = await refusalOf(subject);
    if (!refusal) return noRefusal;
    const answer = await subject.fact(withBadToken);
    const { evidence } = answer;
    if (answer.kind === 'unanswered') return unknown(describeAnswer(answer), { evidence });
    const found = answer.headers.get('www-authenticate') ?? '';
    if (answer.status !== 401)
      return fail(
        `A made-up token is answered with ${describeAnswer(answer)}.`,
        answer.status < 300
          ? 'Verify access tokens: as it is, the server takes any.'
          : 'Answer 401 with error="invalid_token", so that clients refresh or log in again.',
        { evidence },
      );
    const named = challengedMetadata(refusal);
    if (named !== undefined && !found.includes(named))
      return warn(
        `With a made-up token resource_metadata is not ${quote(named)} as without one: ${quote(found)}.`,
        'Send the same resource_metadata with every 401.',
        { evidence },
      );
    if (/error="?invalid_token/i.test(found)) return pass(`401, ${quote(found)}`, { evidence });
    return warn(
      `A made-up token is answered with 401, but without error="invalid_token": ${quote(found)}.`,
      'Add error="invalid_token" where a token was sent: clients tell by it that a refresh may help.',
      { evidence },
    );
  },
};

/** URLs are logged everywhere; a token in one is lost. */
const queryToken: Check = {
  id: 'CHALLENGE-QUERY-TOKEN',
  section: 'reach',
  title: 'A token in the query counts for nothing',
  clause: 'MCP authorization "Token Requirements"; RFC 6750 section 2.3',
  needs: ['CHALLENGE-BAD-TOKEN'],
  async judge(subject) {
    const refusal = await refusalOf(subject);
    if (!refusal) return noRefusal;
    const inHeader = await subject.fact(withBadToken);
    const inQuery = await subject.fact(withTokenInQuery);
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

/** A success asks for nothing. */
const onSuccess: Check = {
  id: 'CHALLENGE-ON-SUCCESS',
  section: 'reach',
  title: 'Answers that succeed carry no challenge',
  clause: 'RFC 9110 section 11.6.1',
  async judge(subject) {
    const successes = subject.exchanges.filter(({ response }) => response && response.status < 300);
    if (successes.length === 0) return skip('Nothing has succeeded so far.', { evidence: [] });
    const odd = successes.find(({ response }) =>
      response?.headers.some(([name]) => name === 'www-authenticate'),
    );
    if (!odd) return pass(`None of ${successes.length} answers with 2xx has one.`, { evidence: [] });
    return warn(
      `${odd.request.method} ${odd.request.url} is answered with ${odd.response?.status} and WWW-Authenticate: clients take it for a refusal, and log in again and again.`,
      'Send WWW-Authenticate with 401 and 403 only.',
      { evidence: [odd.number] },
    );
  },
};

/** Checks of the challenge. */
export const challengeChecks: readonly Check[] = [
  header,
  grammar,
  scheme,
  metadata,
  scope,
  badToken,
  queryToken,
];

/** Looks back at all answers, so it stands behind the sections that get some. */
export const challengeOnSuccess: Check = onSuccess;
