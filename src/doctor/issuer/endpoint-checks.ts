import { quote } from '../../client/quote.ts';
import { isKnownEndpoint } from '../../oauth/issuer.ts';
import { isLoopbackHost } from '../../oauth/redirect-uri.ts';
import { authorizationServerMetadataUrls, fallbackEndpoints } from '../../oauth/well-known.ts';
import { type Answer, ask, describeAnswer } from '../ask.ts';
import { type Check, fail, pass, skip, warn } from '../check.ts';
import { mayRead, preflightFault } from '../cross-origin.ts';
import { internalFault, quoteOrMissing } from '../document.ts';
import { browserOrigin, preflightRequest } from '../requests.ts';
import type { Subject } from '../subject.ts';
import { askPlace, issuerDocument, judgingMetadata } from './places.ts';

const section = 'issuer';

/** Endpoints that a login needs or uses. */
const endpointNames = [
  'authorization_endpoint',
  'token_endpoint',
  'registration_endpoint',
  'revocation_endpoint',
  'device_authorization_endpoint',
] as const;

/** Checks that the endpoints are valid URLs. */
const endpoints: Check = {
  id: 'AS-ENDPOINTS',
  section,
  title: 'Authorization and token endpoint are published, and every endpoint is a public https URL',
  clause: 'RFC 8414 section 2; MCP authorization "Communication Security"',
  needs: ['AS-FOUND'],
  judge: judgingMetadata(({ members }, { url: called }) => {
    for (const name of endpointNames) {
      const value = members[name];
      const isRequired = name === 'authorization_endpoint' || name === 'token_endpoint';
      if (value === undefined && !isRequired) continue;
      const url = typeof value === 'string' ? URL.parse(value) : null;
      if (!url || !/^https?:$/.test(url.protocol))
        return fail(
          `"${name}" is ${quoteOrMissing(value)}.`,
          `Publish the absolute URL of the ${name.replaceAll('_', ' ')}.`,
        );
      const leak = internalFault(url.href, called);
      if (leak !== undefined)
        return fail(
          `"${name}" is ${quote(value)}, which ${leak}.`,
          'Tell the authorization server its public URL.',
        );
      if (url.protocol === 'http:' && !isLoopbackHost(url.hostname))
        return fail(
          `"${name}" is ${quote(value)}, which is not https.`,
          'Put TLS in front of it: codes and tokens pass there.',
        );
    }
    return pass(
      `authorization_endpoint is ${quote(members.authorization_endpoint)}, token_endpoint ${quote(members.token_endpoint)}.`,
    );
  }),
};

/** Checks that the endpoints belong to the expected server, which gets codes and secrets. */
const origins: Check = {
  id: 'AS-ENDPOINT-ORIGIN',
  section,
  title: 'Endpoints that receive codes and secrets are on the origin of the issuer',
  clause: 'RFC 9700 section 4.4',
  needs: ['AS-ENDPOINTS', 'AS-ISSUER'],
  judge: judgingMetadata(({ members }) => {
    const { origin } = new URL(String(members.issuer));
    for (const name of ['token_endpoint', 'registration_endpoint', 'revocation_endpoint'] as const) {
      const url = URL.parse(String(members[name] ?? ''));
      if (url && url.origin !== origin)
        return warn(
          `"${name}" is on ${url.origin}, the issuer on ${origin}. That may be meant; careful clients ask first.`,
          isKnownEndpoint(String(members.issuer), url.href)
            ? `gatehouse login knows this provider, and takes it; other clients have to be told.`
            : `Serve it on ${origin}. gatehouse login takes it with --allow-origin ${url.origin}.`,
        );
    }
    return pass(`They are on ${origin}.`);
  }),
};

/** Fact: the responses of authorization and token endpoint to an empty request. */
async function emptyRequests(
  subject: Subject,
): Promise<{ authorization: Answer; token: Answer } | undefined> {
  const document = await subject.fact(issuerDocument);
  if (!document) return undefined;
  const { authorization_endpoint: authorization, token_endpoint: token } = document.members;
  return {
    authorization: await ask(subject, String(authorization), { headers: { accept: 'text/html' } }),
    token: await ask(subject, String(token), {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: '',
    }),
  };
}

/** Checks that the endpoints respond. */
const reachable: Check = {
  id: 'AS-ENDPOINTS-ANSWER',
  section,
  title: 'Authorization and token endpoint answer',
  clause: 'RFC 6749 sections 3.1 and 3.2',
  needs: ['AS-ENDPOINTS'],
  async judge(subject) {
    const answers = await subject.fact(emptyRequests);
    if (!answers) return skip('There is no metadata of the authorization server.');
    for (const [name, answer] of Object.entries(answers)) {
      const saw = `The ${name} endpoint ${answer.url} answers ${answer.method} with ${describeAnswer(answer)}.`;
      // A request without parameters is unusual: what breaks on it may serve a real one.
      if (answer.kind === 'answered' && answer.status === 500)
        return warn(
          `${saw} There was no parameter in it.`,
          'Answer 400 where parameters are missing: an error of the server hides what is wrong.',
          { evidence: answer.evidence },
        );
      const isGone = answer.kind === 'unanswered' || answer.status === 404 || answer.status > 500;
      const wrongMethod = name === 'token' && answer.kind === 'answered' && answer.status === 405;
      if (isGone || wrongMethod)
        return fail(
          saw,
          'Publish the URL where it is, and see that what stands in front of the authorization server passes it on.',
          { evidence: answer.evidence },
        );
    }
    const { authorization, token } = answers;
    return pass(
      `Without parameters: authorization ${describeAnswer(authorization)}, token ${describeAnswer(token)}.`,
    );
  },
};

/** Checks that clients in a browser can log in. */
const cors: Check = {
  id: 'AS-CORS',
  section,
  title: 'A browser client may read the metadata, register and redeem codes',
  clause: 'WHATWG Fetch "CORS protocol"',
  needs: ['AS-ENDPOINTS'],
  judge: judgingMetadata(async ({ url, members }, subject) => {
    const faults: string[] = [];
    const metadata = await ask(subject, url, { headers: { origin: browserOrigin } });
    const evidence = [...metadata.evidence];
    if (!mayRead(metadata))
      faults.push(`the metadata has no Access-Control-Allow-Origin (${describeAnswer(metadata)})`);
    for (const name of ['token_endpoint', 'registration_endpoint'] as const) {
      const endpoint = members[name];
      if (typeof endpoint !== 'string') continue;
      const headers = name === 'registration_endpoint' ? ['content-type'] : [];
      const answer = await ask(subject, endpoint, preflightRequest('POST', headers));
      evidence.push(...answer.evidence);
      const fault = preflightFault(answer, 'POST', headers);
      if (fault !== undefined) faults.push(`${name}: ${fault}`);
    }
    if (faults.length === 0) return pass('Metadata, token and registration endpoint allow it.', { evidence });
    return warn(
      `${faults.join('; ')}. MCP Inspector and other clients in a browser cannot log in.`,
      'Send Access-Control-Allow-Origin: * there, and answer OPTIONS with 204; these endpoints use no cookies.',
      { evidence },
    );
  }),
};

/** Fact: if the origin of the MCP server has the endpoints that clients of 2025-03-26 expect. */
async function oldPlaces(subject: Subject): Promise<string | undefined> {
  const { origin } = new URL(subject.url);
  const [place = ''] = authorizationServerMetadataUrls(origin);
  if ((await askPlace(subject, place)).published.kind === 'document') return place;
  const { authorization_endpoint: authorize } = fallbackEndpoints(subject.url);
  const answer = await ask(subject, authorize);
  return answer.kind === 'answered' && answer.status !== 404 && answer.status < 500 ? authorize : undefined;
}

/** Checks that clients of 2025-03-26 can log in. */
const compatibility: Check = {
  id: 'AS-COMPATIBILITY',
  section,
  title: 'Clients of 2025-03-26 find the authorization server at the origin of the MCP server',
  clause: 'MCP authorization 2025-03-26 sections 2.3.2 and 2.3.3',
  needs: ['AS-FOUND'],
  async judge(subject) {
    const place = await subject.fact(oldPlaces);
    if (place !== undefined) return pass(`They find ${place}.`);
    return skip(
      'They do not: the origin has neither metadata nor /authorize. Clients of later revisions look elsewhere.',
    );
  },
};

/** Checks of the endpoints. */
export const endpointChecks: readonly Check[] = [endpoints, origins, reachable, cors, compatibility];
