import { ClientError, type ClientErrorReason, type DiscoveredServer, discover } from '../../client/index.ts';
import type { Judgement } from '../finding.ts';
import { skip, unknown } from '../judgements.ts';
import type { Subject } from '../subject.ts';

/** True if the client's own way leads to an authorization server. */
export type FoundServer =
  | { kind: 'found'; found: DiscoveredServer }
  | { kind: 'lost'; reason: ClientErrorReason; why: string };

/** The check that explains why discovery stopped, if one does. */
const causes: Partial<Record<ClientErrorReason, string>> = {
  not_protected: 'CHALLENGE-STATUS',
  resource_mismatch: 'PRM-RESOURCE',
  no_metadata: 'AS-FOUND',
  issuer_mismatch: 'AS-ISSUER',
  foreign_endpoint: 'AS-ENDPOINT-ORIGIN',
  no_pkce: 'AS-PKCE',
};

/**
 * Probe: walks the way a login walks, from the URL to the authorization server.
 * @param subject the server under examination
 */
export async function foundServer(subject: Subject): Promise<FoundServer> {
  try {
    return { kind: 'found', found: await discover(subject.context, subject.url) };
  } catch (error) {
    if (error instanceof ClientError) return { kind: 'lost', reason: error.reason, why: error.message };
    throw error;
  }
}

/**
 * Builds the finding of a check without an authorization server.
 * @param lost reason why {@link foundServer} failed
 */
export function judgeLost({ reason, why }: Extract<FoundServer, { kind: 'lost' }>): Judgement {
  const because = causes[reason];
  const saw = `No login can begin: ${why}`;
  return because === undefined ? unknown(saw) : skip(saw, { because });
}
