import type { AuthorizationAgent } from '../../client/authorization/authorization-agent.ts';
import {
  ClientError,
  type DiscoveredServer,
  type PendingAuthorization,
  type Registration,
  startAuthorization,
} from '../../client/index.ts';
import { redirectAllows } from '../../client/registration/redirect-uris.ts';
import type { Judgement } from '../finding.ts';
import { nativeRegistrations } from '../registration/native-registrations.ts';
import { tryRegistration } from '../registration/try-registration.ts';
import type { Subject } from '../subject.ts';
import { isGoingOn, sendAuthorization } from './authorization-outcome.ts';
import { examinedClient } from './preflight.ts';

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

/** Finds a client whose registered redirect URIs allow that of the agent, or registers one. */
async function clientFor(
  subject: Subject,
  agent: AuthorizationAgent,
): Promise<{ found: DiscoveredServer; client: Registration } | { judgement: Judgement }> {
  const ready = await subject.fact(examinedClient);
  if ('judgement' in ready || ready.client.source === 'given') return ready;
  const { found } = ready;
  const tried = await subject.fact(nativeRegistrations);
  const portless = tried.kind === 'tried' ? tried.portless?.client : undefined;
  if (portless?.redirectUris.some((one) => redirectAllows(one, agent.redirectUri))) {
    const outcome = await sendAuthorization(subject, found, portless);
    if (isGoingOn(outcome, outcome) === true) return { found, client: portless };
  }
  const type = tried.kind === 'tried' && tried.untyped !== undefined ? { application_type: undefined } : {};
  const exact = await tryRegistration(subject, found, { ...type, redirect_uris: [agent.redirectUri] });
  return { found, client: exact.client ?? ready.client };
}

/**
 * Takes the user through one authorization.
 * @param subject the server under examination
 * @param chooseScopes scopes to ask for; undefined for those that a login asks for
 */
export async function obtainConsent(
  subject: Subject,
  chooseScopes: (found: DiscoveredServer) => readonly string[] | undefined = () => undefined,
): Promise<ConsentProbe> {
  const withAgent = subject.login?.withAgent;
  if (withAgent === undefined)
    return {
      kind: 'missing',
      judgement: { verdict: 'skip', saw: 'It needs a login, and nobody is here to log in.' },
    };
  return withAgent(async (agent): Promise<ConsentProbe> => {
    const ready = await clientFor(subject, agent);
    if ('judgement' in ready) return { kind: 'missing', judgement: ready.judgement };
    const { found, client } = ready;
    const { url, pending } = await startAuthorization(found, client, {
      redirectUri: agent.redirectUri,
      scopes: chooseScopes(found),
    });
    try {
      const query = await agent.receive({ url, state: pending.state });
      return { kind: 'given', found, client, pending, query };
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      return {
        kind: 'missing',
        judgement: { verdict: 'unknown', saw: `The login did not come to an end: ${error.message}` },
      };
    }
  });
}

/**
 * Probe: the first of at most two consents, for all that a login asks for.
 * @param subject the server under examination
 */
export async function firstConsent(subject: Subject): Promise<ConsentProbe> {
  return obtainConsent(subject);
}
