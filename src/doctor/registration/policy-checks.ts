import { quote } from '../../client/quote.ts';
import { type Check, fail, type Judgement, pass, skip, unknown, warn } from '../check.ts';
import {
  describeOutcome,
  foundServer,
  judgeLost,
  sendAuthorization,
} from '../login/authorization-outcome.ts';
import type { Subject } from '../subject.ts';
import {
  describeRefusal,
  isAccepted,
  nativeRegistrations,
  type RegistrationTry,
  tryRegistration,
} from './try-registration.ts';

/** A redirect URI without encryption; `.invalid` leads nowhere (RFC 2606 section 2). */
const plainRedirectUri = 'http://doctor.invalid/callback';

/** Registers with one change to the accepted registration, if plain registrations work. */
async function tryVariant(
  subject: Subject,
  metadata: Record<string, unknown>,
  judge: (attempt: RegistrationTry) => Judgement,
): Promise<Judgement> {
  const probe = await subject.fact(nativeRegistrations);
  if (probe.kind === 'untried') return probe.judgement;
  if (!isAccepted(probe.untyped ?? probe.ported))
    return unknown('No registration is accepted at all.', { because: 'REG-LOOPBACK-PORT' });
  const type = probe.untyped === undefined ? {} : { application_type: undefined };
  const attempt = await tryRegistration(subject, probe.found, { ...type, ...metadata });
  return { ...judge(attempt), evidence: attempt.answer.evidence };
}

/** Checks that unencrypted redirect URIs are rejected. */
export const plainRedirectCheck: Check = {
  id: 'REG-HTTP-REDIRECT',
  section: 'registration',
  title: 'An http redirect URI on a public host is refused',
  clause: 'MCP authorization "Communication Security"',
  active: true,
  judge: (subject) =>
    tryVariant(subject, { redirect_uris: [plainRedirectUri] }, (attempt) => {
      if (isAccepted(attempt))
        return fail(
          `${plainRedirectUri} was registered: codes sent there can be read on the way.`,
          'Refuse http redirect URIs at registration unless their host is 127.0.0.1, [::1] or localhost, with 400 and invalid_redirect_uri.',
        );
      if (attempt.answer.kind === 'unanswered')
        return unknown(`The registration ended with ${describeRefusal(attempt)}.`);
      const saw = `${plainRedirectUri} was refused with ${describeRefusal(attempt)}.`;
      if (attempt.answer.status < 500 && attempt.body?.error !== undefined) return pass(saw);
      return warn(
        saw,
        'Refuse with status 400 and {"error":"invalid_redirect_uri"} (RFC 7591 section 3.2.2), so that clients can tell why.',
      );
    }),
};

/** Checks that a server registers clients of any name. */
export const clientNameCheck: Check = {
  id: 'REG-CLIENT-NAME',
  section: 'registration',
  title: 'The client is registered under its own name',
  clause: 'RFC 7591 section 3.2.2',
  active: true,
  async judge(subject) {
    const name = subject.login?.clientName;
    if (name === undefined) return skip("No client name was given; other clients' names are not tried.");
    return tryVariant(subject, { client_name: name }, (attempt) => {
      if (attempt.answer.kind === 'unanswered')
        return unknown(`The registration ended with ${describeRefusal(attempt)}.`);
      if (isAccepted(attempt)) return pass(`A client named ${quote(name)} was registered.`);
      return fail(
        `A client named ${quote(name)} was rejected by policy, with ${describeRefusal(attempt)}; another name was accepted.`,
        'Ask the operator of the authorization server to allow this client name, or to give you a client id.',
      );
    });
  },
};

/** Checks that the server still knows the client of an earlier login: otherwise the user sees an error page. */
export const keptClientCheck: Check = {
  id: 'REG-ALIVE',
  section: 'registration',
  title: 'The authorization server still knows the client that was registered earlier',
  clause: 'RFC 6749 section 4.1.2.1',
  needs: [
    'REACH-ANSWER',
    'CHALLENGE-STATUS',
    'PRM-DOCUMENT',
    'PRM-FOUND',
    'PRM-LINK',
    'PRM-RESOURCE',
    'PRM-SERVERS',
    'AS-FOUND',
    'AS-ISSUER',
    'AS-ENDPOINTS',
  ],
  async judge(subject) {
    const kept = subject.login?.kept;
    if (kept === undefined) return skip('No store of earlier logins was given.');
    const way = await subject.fact(foundServer);
    if (way.kind === 'lost') return judgeLost(way);
    const { issuer } = way.found.authorizationServer;
    const registration = await kept.findRegistration(issuer);
    if (registration === undefined) return skip(`No client was registered at ${issuer} from here.`);
    const outcome = await sendAuthorization(subject, way.found, registration);
    const { evidence } = outcome;
    const saw = `An authorization request of the kept client ${registration.clientId} ${describeOutcome(outcome)}.`;
    if (outcome.kind === 'none') return unknown(saw, { evidence });
    if (outcome.kind !== 'refused' && outcome.kind !== 'broken') return pass(saw, { evidence });
    const anew =
      'Log in again: the client is then registered anew. On the server, keep registrations as long as refresh tokens live.';
    const waits = `The operator may have to approve this client first (at Gatehouse: gatehouse client approve ${registration.clientId}). Where nobody does: ${anew}`;
    return fail(saw, outcome.status === 403 ? waits : anew, { evidence });
  },
};
