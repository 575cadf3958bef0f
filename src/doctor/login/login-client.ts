import type { AuthorizationAgent } from '../../client/authorization/code-login.ts';
import type { DiscoveredServer, Registration } from '../../client/index.ts';
import { redirectAllows } from '../../client/registration/dynamic-registration.ts';
import { nativeRegistrations } from '../registration/native-registrations.ts';
import { tryRegistration } from '../registration/try-registration.ts';
import type { Subject } from '../subject.ts';
import { type AuthorizationOutcome, isGoingOn, sendAuthorization } from './authorization-outcome.ts';

/**
 * Probe: whether a client registered without a port may use one, found out before a user sees it.
 * @param subject the server under examination
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
 * Finds a client whose registered redirect URIs allow that of the agent, or registers one.
 * @param subject the server under examination
 * @param agent the agent that guides the user through the login
 * @param login the first uses the client registered without a port if that works; the second has one of its own
 * @param ready the client that authorization requests were tried with
 */
export async function loginClient(
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
