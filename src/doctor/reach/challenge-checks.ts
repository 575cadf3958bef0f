import { quote } from '../../client/quote.ts';
import { findGrammarFault } from '../../oauth/challenge.ts';
import { protectedResourceMetadataUrl } from '../../oauth/well-known.ts';
import { type Check, fail, pass, skip, warn } from '../check.ts';
import { resourceDocument } from '../resource/places.ts';
import type { Subject } from '../subject.ts';
import { challengedMetadata, firstRefusal, type Refusal } from './anonymous.ts';

const noRefusal = skip('The server refuses nobody.');

async function refusalOf(subject: Subject): Promise<Refusal | undefined> {
  return subject.fact(firstRefusal);
}

/** Returns true if the server requires a token that MCP clients can get. */
export function asksForToken({ challenges }: Pick<Refusal, 'challenges'>): boolean {
  return challenges.some((challenge) => challenge.scheme === 'bearer' || challenge.scheme === 'dpop');
}

/** Builds the header of a correct server. */
function soundLine(url: string): string {
  return `WWW-Authenticate: Bearer resource_metadata="${protectedResourceMetadataUrl(url)}"`;
}

/** Checks that the 401 has a challenge. */
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

/** Checks that the challenge can be parsed. */
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

/** Checks that the challenge requires a token that clients can get. */
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
    if (asksForToken(refusal)) return pass(`It offers ${schemes.join(', ')}.`);
    return fail(
      `It offers ${schemes.map(quote).join(', ') || 'nothing'}, and no Bearer.`,
      schemes.includes('basic') || schemes.includes('negotiate')
        ? 'Something in front of the server asks for a password of its own: take the MCP endpoint and /.well-known/* out of it.'
        : `Send ${soundLine(subject.url)}`,
    );
  },
};

/** Checks that the challenge names the metadata. */
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
    if (named === undefined && !(await subject.fact(resourceDocument)))
      return skip('There is no metadata that the challenge could name.', { because: 'PRM-FOUND' });
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

/** Checks that the challenge names the scopes. */
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

/** Checks of the challenge. */
export const challengeChecks: readonly Check[] = [header, grammar, scheme, metadata, scope];

/** Checks that no 2xx response has a challenge. It uses all earlier responses, so it runs after other sections. */
export const challengeOnSuccess: Check = {
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
