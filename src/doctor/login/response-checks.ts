import { describeDifference, quote } from '../../client/quote.ts';
import type { Check } from '../check.ts';
import type { Judgement } from '../finding.ts';
import { fail, pass, skip } from '../judgements.ts';
import type { Subject } from '../subject.ts';
import { type Consent, consentPatienceMs, firstConsent } from './consent.ts';

/** Judges the authorization response of the first consent. */
async function judgeResponse(subject: Subject, judge: (consent: Consent) => Judgement): Promise<Judgement> {
  const consent = await subject.fact(firstConsent);
  return consent.kind === 'missing' ? consent.judgement : judge(consent);
}

/** The state is what ties an answer to a request. */
export const stateCheck: Check = {
  id: 'LOGIN-STATE',
  section: 'login',
  title: 'The state comes back as it was sent, once',
  clause: 'RFC 6749 section 4.1.2',
  active: true,
  needs: ['LOGIN-REQUEST'],
  patienceMs: consentPatienceMs,
  judge: (subject) =>
    judgeResponse(subject, ({ pending, query }) => {
      const states = query.getAll('state');
      const fix =
        'Send the state of the request back unchanged, decoded once and encoded once: every client refuses the answer otherwise.';
      if (states.length === 1 && states[0] === pending.state)
        return pass('The state of the request came back.');
      if (states.length === 0)
        return fail('The authorization response has no state, although the request had one.', fix);
      if (states.length > 1) return fail(`The authorization response has ${states.length} states.`, fix);
      return fail('The authorization response has another state than the request.', fix);
    }),
};

/** The issuer in the answer keeps two authorization servers apart. */
export const issuerCheck: Check = {
  id: 'LOGIN-ISS',
  section: 'login',
  title: 'The authorization response names its issuer, byte for byte',
  clause: 'RFC 9207 sections 2 and 2.4',
  active: true,
  needs: ['LOGIN-REQUEST'],
  patienceMs: consentPatienceMs,
  judge: (subject) =>
    judgeResponse(subject, ({ found, query }) => {
      const { issuer, authorization_response_iss_parameter_supported: announced } = found.authorizationServer;
      const [iss, ...more] = query.getAll('iss');
      if (iss === undefined && announced !== true)
        return skip('The response has no iss, and the metadata announces none.');
      if (iss === undefined)
        return fail(
          'The metadata announces authorization_response_iss_parameter_supported, but the response has no iss.',
          `Add iss=${issuer} to every authorization response, errors included, or take the announcement away.`,
        );
      if (more.length > 0) return fail(`The response has iss ${more.length + 1} times.`, 'Send iss once.');
      if (iss === issuer) return pass(`iss is ${quote(iss)}.`);
      return fail(
        `iss is another than the issuer: ${describeDifference(issuer, iss)}.`,
        `Send the issuer of the metadata, ${issuer}, without any change: clients compare it as a string and drop the response.`,
      );
    }),
};
