import {
  ClientError,
  type DiscoveredServer,
  type PendingAuthorization,
  type Registration,
  startAuthorization,
} from '../../client/index.ts';
import type { Judgement } from '../finding.ts';
import { skip, unknown } from '../judgements.ts';
import type { Subject } from '../subject.ts';
import { loginClient } from './login-client.ts';
import { preflight } from './preflight.ts';

/** An authorization response that a user's consent brought, not judged yet. */
export interface Consent {
  found: DiscoveredServer;
  client: Registration;
  pending: PendingAuthorization;
  /** Query of the redirect. */
  query: URLSearchParams;
}

/** A consent, or why there is none. */
export type ConsentProbe = ({ kind: 'given' } & Consent) | { kind: 'missing'; judgement: Judgement };

/** The longest wait for a user, in milliseconds; a check that may wait for two consents takes twice that. */
export const consentPatienceMs = 5 * 60 * 1000;

/**
 * Takes the user through one authorization.
 * @param subject the server under examination
 * @param login whose turn it is: the second has a client of its own, as servers keep one grant for a user and a client
 * @param scopes scopes to ask for; undefined for those that a login asks for
 */
export async function obtainConsent(
  subject: Subject,
  login: 'first' | 'second',
  scopes?: readonly string[],
): Promise<ConsentProbe> {
  const withAgent = subject.login?.withAgent;
  if (withAgent === undefined)
    return {
      kind: 'missing',
      judgement: skip('It needs a login, and nobody is here to log in.'),
    };
  const ready = await subject.fact(preflight);
  if (ready.kind === 'unready') return { kind: 'missing', judgement: ready.judgement };
  if (ready.good.kind === 'error' || ready.good.kind === 'refused')
    return {
      kind: 'missing',
      judgement: unknown('The authorization server refuses the request of a login, so no user was asked.', {
        because: 'LOGIN-REQUEST',
      }),
    };
  return withAgent(async (agent): Promise<ConsentProbe> => {
    const client = await loginClient(subject, agent, login, ready);
    const { found } = ready;
    const { url, pending } = await startAuthorization(found, client, {
      redirectUri: agent.redirectUri,
      scopes,
    });
    try {
      const query = await agent.receive({ url, state: pending.state });
      return { kind: 'given', found, client, pending, query };
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      return {
        kind: 'missing',
        judgement: unknown(`The login did not come to an end: ${error.message}`),
      };
    }
  });
}

/**
 * Probe: the first of at most two consents, for all that a login asks for.
 * @param subject the server under examination
 */
export async function firstConsent(subject: Subject): Promise<ConsentProbe> {
  return obtainConsent(subject, 'first');
}
