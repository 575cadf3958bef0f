import { describeDifference, quote } from '../../client/quote.ts';
import type { ClientProfile } from '../../oauth/client-profiles/client-profile.ts';
import { resourceCovers } from '../../oauth/resource-indicator.ts';
import { describeAnswer } from '../ask.ts';
import { challengedMetadata, firstRefusal } from '../reach/anonymous.ts';
import { resourcePlaces } from '../resource/places.ts';
import type { Subject } from '../subject.ts';

/** The client's choice of resource metadata. */
export interface TakenResource {
  members: Record<string, unknown>;
}

/** Replays how the client finds the metadata of the resource, and whether the client accepts it. */
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

/** Steps at which a client may stop, in order. */
type ReplayStepName =
  | 'address'
  | 'challenge'
  | 'resource metadata'
  | 'resource'
  | 'issuer metadata'
  | 'issuer'
  | 'PKCE'
  | 'CORS'
  | 'registration'
  | 'authorization request';

/** Result of one step for a client: continue, stop, or unknown from here. */
export type ReplayStep = { name: ReplayStepName; evidence?: readonly number[] } & (
  | { kind: 'goes_on'; saw: string }
  | { kind: 'stops'; saw: string; clause: string; fix: string }
  | { kind: 'unknown'; saw: string }
  /** The client runs on machines that this server is not meant to be reached from. */
  | { kind: 'out_of_reach'; saw: string }
  /** The way ends here, and well: there is nothing to log in to. */
  | { kind: 'inside'; saw: string }
);
