import { ClientError, type DiscoveredServer, discover } from '../../client/index.ts';
import type { Judgement } from '../finding.ts';
import type { Subject } from '../subject.ts';

/** Whether the client's own way leads to an authorization server. */
export type FoundServer = { kind: 'found'; found: DiscoveredServer } | { kind: 'lost'; why: string };

/**
 * Probe: walks the way a login walks, from the URL to the authorization server.
 * @param subject the server under examination
 */
export async function foundServer(subject: Subject): Promise<FoundServer> {
  try {
    return { kind: 'found', found: await discover(subject.context, subject.url) };
  } catch (error) {
    if (error instanceof ClientError) return { kind: 'lost', why: error.message };
    throw error;
  }
}

/**
 * What a check says that has no authorization server to ask.
 * @param why the failure of {@link foundServer}
 */
export function judgeLost(why: string): Judgement {
  return { verdict: 'unknown', saw: `No login can begin: ${why}` };
}
