import type { Check } from '../check.ts';
import { fail, pass, skip, unknown } from '../judgements.ts';
import { describeOutcome, sendAuthorization } from '../login/authorization-outcome.ts';
import { foundServer, judgeLost } from '../login/found-server.ts';

/** Servers drop registrations, and the user then sees an error page in place of a login. */
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
