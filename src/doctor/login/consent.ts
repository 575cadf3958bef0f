import { type AuthorizationAgent, redirectAllows } from '../../client/building-blocks.ts';
import {
  ClientError,
  type DiscoveredServer,
  type PendingAuthorization,
  type Registration,
  startAuthorization,
} from '../../client/index.ts';
import { type Check, type Judgement, skip, unknown } from '../check.ts';
import { nativeRegistrations, tryRegistration } from '../registration/try-registration.ts';
import type { Subject } from '../subject.ts';
import { type AuthorizationOutcome, isGoingOn, sendAuthorization } from './authorization-outcome.ts';
import { preflight } from './preflight.ts';

/** An authorization response after a user's consent, not judged yet. */
export interface Consent {
  found: DiscoveredServer;
  client: Registration;
  pending: PendingAuthorization;
  /** Query of the redirect. */
  query: URLSearchParams;
}

/** A consent, or the reason why there is none. */
export type ConsentProbe = ({ kind: 'given' } & Consent) | { kind: 'missing'; judgement: Judgement };

/** Maximum wait for a user, in milliseconds; a check that may wait for two consents takes twice that. */
export const consentPatienceMs = 5 * 60 * 1000;

/**
 * Guides the user through one authorization.
 * @param login `second` has a client of its own, because servers have one grant for a user and a client
 * @param scopes requested scopes; those of a login if undefined
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

/** Fact: the first of at most two consents, for all scopes of a login. */
export async function firstConsent(subject: Subject): Promise<ConsentProbe> {
  return obtainConsent(subject, 'first');
}

/** Checks that need the first login. */
const withFirst = new Set([
  'LOGIN-STATE',
  'LOGIN-ISS',
  'LOGIN-CODE',
  'LOGIN-TOKEN-RESPONSE',
  'LOGIN-SCOPE',
  'LOGIN-REFRESH-TOKEN',
  'LOGIN-REFRESH',
  'LOGIN-ROTATION',
  'LOGIN-PARALLEL-REFRESH',
  'LOGIN-REUSE',
  'TOKEN-CLAIMS',
  'TOKEN-AUDIENCE',
  'TOKEN-CLOCK',
  'TOKEN-ACCEPTED',
  'TOKEN-SESSION',
]);

/** Checks that spend a code or tokens, and need a second login for that. */
const withSecond = new Set([
  'LOGIN-VERIFIER',
  'LOGIN-CODE-REDIRECT',
  'LOGIN-CODE-ONCE',
  'LOGIN-CODE-REVOKES',
  'TOKEN-OTHER-AUDIENCE',
  'TOKEN-SCOPE-CHALLENGE',
  'TOKEN-STEP-UP',
  'TOKEN-REVOKED',
  'TOKEN-DPOP',
]);

/**
 * Returns the maximum number of consents, to be announced before an active examination.
 * @param checks the checks that will run
 */
export function countConsents(checks: readonly Pick<Check, 'id'>[]): 0 | 1 | 2 {
  const ids = checks.map(({ id }) => id);
  if (ids.some((id) => withSecond.has(id))) return 2;
  return ids.some((id) => withFirst.has(id)) ? 1 : 0;
}

/**
 * Fact: if a client that was registered without a port may use one, determined before a user sees it.
 * @returns undefined if no such client could be registered
 * @see RFC 8252 section 7.3
 */
export async function freePortOutcome(
  subject: Subject,
): Promise<{ client: Registration; outcome: AuthorizationOutcome } | undefined> {
  const tried = await subject.fact(nativeRegistrations);
  const client = tried.kind === 'tried' ? tried.portless?.client : undefined;
  if (tried.kind === 'untried' || client === undefined) return undefined;
  return { client, outcome: await sendAuthorization(subject, tried.found, client) };
}

/**
 * Finds a client with the redirect URI of the agent, or registers one.
 * @param agent guides the user through the login
 * @param login the first uses the client that was registered without a port, if that works; the second has its own
 * @param ready client of the earlier authorization requests
 */
async function loginClient(
  subject: Subject,
  agent: AuthorizationAgent,
  login: 'first' | 'second',
  { found, client }: { found: DiscoveredServer; client: Registration },
): Promise<Registration> {
  if (client.source === 'given') return client;
  const portless = await subject.fact(freePortOutcome);
  const isUsable =
    portless?.client.redirectUris.some((one) => redirectAllows(one, agent.redirectUri)) === true &&
    isGoingOn(portless.outcome, portless.outcome) === true;
  if (login === 'first' && isUsable) return portless.client;
  const tried = await subject.fact(nativeRegistrations);
  const type = tried.kind === 'tried' && tried.untyped !== undefined ? { application_type: undefined } : {};
  const exact = await tryRegistration(subject, found, { ...type, redirect_uris: [agent.redirectUri] });
  return exact.client ?? (isUsable ? portless.client : client);
}
