import { isLocalAddress } from '../../client/local-address.ts';
import { describeDifference, quote } from '../../client/quote.ts';
import { fallbackEndpoints } from '../../oauth/default-endpoints.ts';
import { resourceCovers } from '../../oauth/resource-indicator.ts';
import { authorizationServerMetadataUrls } from '../../oauth/well-known.ts';
import { ask } from '../ask.ts';
import { describeAnswer } from '../describe-answer.ts';
import { stringsOf } from '../document.ts';
import { askPlace, type IssuerPlace, issuerPlaces, namedIssuer, wrongPlaces } from '../issuer/places.ts';
import { anonymousInitialize, challengedMetadata, firstRefusal, isSuccess } from '../reach/anonymous.ts';
import { initializeRequest } from '../requests.ts';
import { resourcePlaces } from '../resource/places.ts';
import type { Subject } from '../subject.ts';
import type { ClientProfile } from './profile.ts';
import type { ReplayStep } from './replay-step.ts';

/** Whether the URL is one that the client can call at all. */
export function replayAddress(profile: ClientProfile, url: string): ReplayStep {
  const name = 'address';
  const parsed = URL.parse(url);
  if (parsed === null) return { name, kind: 'unknown', saw: `${quote(url)} is no URL.` };
  if (profile.runsOn !== 'cloud') return { name, kind: 'goes_on', saw: parsed.origin };
  const stop = (saw: string): ReplayStep => ({
    name,
    kind: 'stops',
    saw,
    clause: 'MCP authorization, Communication Security',
    fix: 'Publish the server under https on port 443 of a public name.',
  });
  if (isLocalAddress(parsed.hostname) || !parsed.hostname.includes('.'))
    return stop(`${profile.title} calls from a data centre, where ${parsed.hostname} leads nowhere.`);
  if (parsed.protocol !== 'https:') return stop(`${profile.title} calls https only.`);
  if (parsed.port !== '') return stop(`${profile.title} calls port 443 only, not ${parsed.port}.`);
  return { name, kind: 'goes_on', saw: parsed.origin };
}

/** Whether the first refusal is one the client understands. */
export async function replayChallenge(profile: ClientProfile, subject: Subject): Promise<ReplayStep> {
  const name = 'challenge';
  const { userAgent } = profile;
  const answer =
    userAgent === undefined
      ? await subject.fact(anonymousInitialize)
      : await ask(subject, subject.url, initializeRequest({ 'user-agent': userAgent }));
  const { evidence } = answer;
  if (answer.kind === 'unanswered')
    return { name, kind: 'unknown', saw: `No answer: ${answer.why}.`, evidence };
  const location = URL.parse(answer.headers.get('location') ?? '', answer.url);
  if (answer.status >= 300 && answer.status < 400 && location !== null) {
    const keeps = [307, 308].includes(answer.status) && location.origin === new URL(subject.url).origin;
    if (keeps)
      return { name, kind: 'goes_on', saw: `${answer.status} is followed to ${quote(location.href)}.` };
    return {
      name,
      kind: 'stops',
      saw: `${describeAnswer(answer)}: on the way there the token or the request is lost.`,
      clause: 'RFC 9110 section 15.4',
      fix: 'Serve the server at this URL, or give clients the one it leads to.',
      evidence,
    };
  }
  if (answer.status === 401)
    return { name, kind: 'goes_on', saw: 'It is asked for a login (401).', evidence };
  if (isSuccess(answer)) {
    const refusal = await subject.fact(firstRefusal);
    if (refusal !== undefined)
      return { name, kind: 'goes_on', saw: 'It is asked for a login at its first call.' };
    return { name, kind: 'inside', saw: 'The server asks for no login.', evidence };
  }
  const other = userAgent === undefined ? undefined : await subject.fact(anonymousInitialize);
  const isSingled = other?.kind === 'answered' && other.status === 401;
  return {
    name,
    kind: 'stops',
    saw: `${isSingled ? `To ${quote(userAgent)} the answer is` : 'The answer is'} ${describeAnswer(answer)}, not 401.`,
    clause: 'MCP authorization, Error Handling',
    fix: isSingled
      ? 'Take the rule off that blocks this user agent (bot rules, "Block AI bots", a WAF).'
      : 'Answer requests without a token with 401 and WWW-Authenticate.',
    evidence,
  };
}

/** What a client takes for the metadata of the resource. */
export interface TakenResource {
  members: Record<string, unknown>;
}

/** Where the client finds the metadata of the resource, and whether it believes it. */
export async function replayResource(
  profile: ClientProfile,
  subject: Subject,
): Promise<{ steps: ReplayStep[]; taken?: TakenResource }> {
  const refusal = await subject.fact(firstRefusal);
  const challenged = refusal === undefined ? undefined : challengedMetadata(refusal);
  const places = await subject.fact(resourcePlaces);
  const inOrder = profile.resourcePlaces.flatMap((wanted) =>
    places.filter(({ named, url }) =>
      wanted === 'by the challenge' ? url === challenged : named === wanted,
    ),
  );
  const asked =
    challenged !== undefined && profile.challengeDecides
      ? inOrder.filter(({ url }) => url === challenged)
      : inOrder;
  const name = 'resource metadata';
  const found = asked.find(({ published }) => published.kind === 'document');
  const evidence = asked.flatMap(({ answer }) => answer.evidence);
  if (found?.published.kind !== 'document') {
    const list = asked.map(({ url, answer }) => `${url} (${describeAnswer(answer)})`).join(', ');
    return {
      steps: [
        {
          name,
          kind: 'goes_on',
          saw: `None: ${list}. The origin is taken for the authorization server.`,
          evidence,
        },
      ],
    };
  }
  const { members } = found.published;
  const steps: ReplayStep[] = [{ name, kind: 'goes_on', saw: found.url, evidence: found.answer.evidence }];
  steps.push(compareResource(profile, subject.url, members.resource, found.answer.evidence));
  return { steps, taken: { members } };
}

function compareResource(
  profile: ClientProfile,
  url: string,
  resource: unknown,
  evidence: readonly number[],
): ReplayStep {
  const name = 'resource';
  const clause = 'RFC 9728 section 3.3';
  const fix = `Publish "resource": ${quote(url)}, the URL that clients call, byte for byte.`;
  if (typeof resource !== 'string' || URL.parse(resource) === null)
    return {
      name,
      kind: 'stops',
      saw: `"resource" is ${quote(resource)}, which is no URL.`,
      clause,
      fix,
      evidence,
    };
  const same = {
    exact: () => resource === url,
    url: () => URL.parse(resource)?.href === URL.parse(url)?.href,
    covers: () => resourceCovers(resource, url),
  }[profile.resource]();
  if (same) return { name, kind: 'goes_on', saw: resource, evidence };
  const how = { exact: 'byte for byte', url: 'as URLs', covers: 'for the URL or one above it' }[
    profile.resource
  ];
  return {
    name,
    kind: 'stops',
    saw: `It compares "resource" ${how}: ${describeDifference(url, resource)}.`,
    clause,
    fix,
    evidence,
  };
}

/** What a client takes for the authorization server. */
export interface TakenIssuer {
  issuer: string;
  members: Record<string, unknown>;
}

async function placesOf(
  profile: ClientProfile,
  subject: Subject,
  issuer: string,
): Promise<readonly IssuerPlace[]> {
  const named = await subject.fact(namedIssuer);
  const isNamed = named?.issuer === issuer;
  const right = isNamed
    ? await subject.fact(issuerPlaces)
    : await Promise.all(authorizationServerMetadataUrls(issuer).map((url) => askPlace(subject, url)));
  return profile.issuerAtRoot && isNamed ? [...right, ...(await subject.fact(wrongPlaces))] : right;
}

/** Whether the client finds the authorization server, and believes it. */
export async function replayIssuer(
  profile: ClientProfile,
  subject: Subject,
  resource: TakenResource | undefined,
): Promise<{ steps: ReplayStep[]; taken?: TakenIssuer }> {
  const name = 'issuer metadata';
  const clause = 'RFC 8414 section 3.3';
  const [first] = resource === undefined ? [] : (stringsOf(resource.members.authorization_servers) ?? []);
  const issuer = first ?? new URL(subject.url).origin;
  if (URL.parse(issuer) === null)
    return {
      steps: [
        {
          name,
          kind: 'stops',
          saw: `The first authorization server is ${quote(issuer)}, which is no URL.`,
          clause: 'RFC 9728 section 2',
          fix: 'Publish the issuer as an https URL in authorization_servers.',
        },
      ],
    };
  const places = await placesOf(profile, subject, issuer);
  const found = places.find(({ published }) => published.kind === 'document');
  const evidence = places.flatMap(({ answer }) => answer.evidence);
  if (found?.published.kind !== 'document') {
    if (profile.withoutMetadata === 'default_endpoints')
      return {
        steps: [{ name, kind: 'goes_on', saw: 'None: it takes /authorize, /token and /register.', evidence }],
        taken: { issuer, members: { ...fallbackEndpoints(issuer) } },
      };
    const list = places.map(({ url, answer }) => `${url} (${describeAnswer(answer)})`).join(', ');
    return {
      steps: [
        {
          name,
          kind: 'stops',
          saw: `No metadata of ${quote(issuer)}: ${list}.`,
          clause: 'MCP authorization, Authorization Server Metadata Discovery',
          fix: `Publish the metadata at ${places[0]?.url ?? 'the well-known place'}.`,
          evidence,
        },
      ],
    };
  }
  const { members } = found.published;
  const said = members.issuer;
  const steps: ReplayStep[] = [{ name, kind: 'goes_on', saw: found.url, evidence: found.answer.evidence }];
  const same =
    profile.issuer === 'unchecked' ||
    said === issuer ||
    (profile.issuer === 'exact_or_slash' && issuer.endsWith('/') && said === issuer.slice(0, -1));
  steps.push(
    same
      ? { name: 'issuer', kind: 'goes_on', saw: profile.issuer === 'unchecked' ? 'not compared' : issuer }
      : {
          name: 'issuer',
          kind: 'stops',
          saw: `It compares the issuer byte for byte: ${describeDifference(issuer, String(said))}.`,
          clause,
          fix: `Write the issuer the same way in authorization_servers and in the metadata: ${quote(said)}.`,
          evidence: found.answer.evidence,
        },
    comparePkce(profile, members, found.answer.evidence),
  );
  return { steps, taken: { issuer, members } };
}

function comparePkce(
  profile: ClientProfile,
  members: Record<string, unknown>,
  evidence: readonly number[],
): ReplayStep {
  const name = 'PKCE';
  const methods = stringsOf(members.code_challenge_methods_supported);
  const listed = methods?.includes('S256') === true;
  const goesOn =
    listed || profile.pkce === 'unread' || (profile.pkce === 'if_listed' && methods === undefined);
  if (goesOn) return { name, kind: 'goes_on', saw: listed ? 'S256' : 'not listed, which it does not mind' };
  return {
    name,
    kind: 'stops',
    saw:
      methods === undefined
        ? 'code_challenge_methods_supported is missing.'
        : `code_challenge_methods_supported is ${quote(methods)}, without S256.`,
    clause: 'MCP authorization, Authorization Code Protection',
    fix: 'Publish "code_challenge_methods_supported": ["S256"].',
    evidence,
  };
}
