import { describeDifference, quote } from '../../client/quote.ts';
import type { ClientProfile } from '../../oauth/client-profiles/client-profile.ts';
import { authorizationServerMetadataUrls, fallbackEndpoints } from '../../oauth/well-known.ts';
import { describeAnswer } from '../ask.ts';
import { stringsOf } from '../document.ts';
import { askPlace, type IssuerPlace, issuerPlaces, namedIssuer, wrongPlaces } from '../issuer/places.ts';
import type { Subject } from '../subject.ts';
import type { ReplayStep, TakenResource } from './resource-replay.ts';

/** The client's choice of authorization server. */
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

/** Returns true if the client finds the authorization server, and believes it. */
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
