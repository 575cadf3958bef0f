import { describeDifference, quote } from '../../client/quote.ts';
import { type Check, fail, type Judgement, pass, skip, unknown } from '../check.ts';
import { nativeRegistrations } from '../registration/try-registration.ts';
import type { Subject } from '../subject.ts';
import { type AuthorizationOutcome, describeOutcome, isGoingOn } from './authorization-outcome.ts';
import { type Consent, consentPatienceMs, firstConsent, freePortOutcome } from './consent.ts';
import { judgeBadRequest, preflight } from './preflight.ts';

/** Advice for the error of a good request. */
function fixOf(outcome: AuthorizationOutcome, resource: string): string {
  if (outcome.kind !== 'error')
    return 'Look into the log of the authorization server for this request: it follows the standard.';
  const described = outcome.query.get('error_description') ?? '';
  if (described.includes('AADSTS9010010'))
    return 'Microsoft Entra wants the scopes to belong to the resource: publish scopes_supported as api://<application id>/<scope>, and the Application ID URI of the same application as "resource".';
  if (outcome.error === 'invalid_target')
    return `Make ${quote(resource)} known to the authorization server as a resource, in exactly this spelling, or publish the spelling that it knows as "resource" of the protected resource metadata.`;
  if (outcome.error === 'invalid_scope')
    return 'Let scopes_supported of the protected resource metadata, and scope of the challenge, name only scopes that the authorization server can grant.';
  return 'Look into the log of the authorization server for this request: it follows the standard.';
}

/** Checks the request that starts each login. */
export const goodRequestCheck: Check = {
  id: 'LOGIN-REQUEST',
  section: 'login',
  title: 'An authorization request with PKCE and resource is taken',
  clause: 'RFC 6749 section 4.1.1; RFC 8707 section 2.1',
  active: true,
  async judge(subject) {
    const ready = await subject.fact(preflight);
    if (ready.kind === 'unready') return ready.judgement;
    const { found, good } = ready;
    const { evidence } = good;
    const saw = `A request with code_challenge_method S256 and resource ${quote(found.resource)} ${describeOutcome(good)}.`;
    if (good.kind === 'none') return unknown(saw, { evidence });
    if (good.kind === 'page')
      return unknown(`${saw} Whether it is a login cannot be read off it.`, { evidence });
    if (isGoingOn(good, good) === true) return pass(saw, { evidence });
    return fail(saw, fixOf(good, found.resource), { evidence });
  },
};

/** Checks that a native client may use any free port. */
export const freePortCheck: Check = {
  id: 'LOGIN-LOOPBACK-PORT',
  section: 'login',
  title: 'A loopback redirect URI registered without a port is taken with any port',
  clause: 'RFC 8252 section 7.3',
  active: true,
  async judge(subject) {
    const tried = await subject.fact(nativeRegistrations);
    if (tried.kind === 'untried') return tried.judgement;
    const portless = await subject.fact(freePortOutcome);
    if (portless === undefined)
      return skip('The server registers no redirect URI without a port.', {
        because: 'REG-LOOPBACK-PORTLESS',
      });
    const { outcome } = portless;
    const { evidence } = outcome;
    const saw = `A request with a port of its own ${describeOutcome(outcome)}.`;
    if (outcome.kind === 'none') return unknown(saw, { evidence });
    if (isGoingOn(outcome, outcome) === true) return pass(saw, { evidence });
    const ready = await subject.fact(preflight);
    if (ready.kind === 'ready' && isGoingOn(ready.good, ready.good) !== true)
      return unknown(saw, { because: 'LOGIN-REQUEST', evidence });
    return fail(
      saw,
      'Leave the port out of the comparison of http redirect URIs on 127.0.0.1 and [::1], as section 7.3 of RFC 8252 requires.',
      { evidence },
    );
  },
};

/** Checks that PKCE is required: without it a stolen code is a stolen login. */
export const pkceCheck: Check = {
  id: 'LOGIN-PKCE',
  section: 'login',
  title: 'An authorization request without PKCE is refused',
  clause: 'RFC 9700 section 2.1.1; RFC 7636 section 4.4.1',
  active: true,
  judge: (subject) =>
    judgeBadRequest(subject, {
      changes: { code_challenge: null, code_challenge_method: null },
      named: 'A request without code_challenge',
      taken: 'fail',
      fix: 'Require code_challenge of public clients: answer with error=invalid_request where it is missing.',
    }),
};

/** Checks that plain challenges are rejected: they reveal the verifier to everybody who sees the request. */
export const plainChallengeCheck: Check = {
  id: 'LOGIN-PKCE-PLAIN',
  section: 'login',
  title: 'The code challenge method "plain" is refused',
  clause: 'RFC 9700 section 2.1.1; RFC 7636 section 7.2',
  active: true,
  judge: (subject) =>
    judgeBadRequest(subject, {
      changes: { code_challenge_method: 'plain' },
      named: 'A request with code_challenge_method "plain"',
      taken: 'warn',
      fix: 'Accept S256 only, and publish just that in code_challenge_methods_supported.',
    }),
};

const strangers = 'https://doctor.invalid/callback';

/** Checks that an unknown redirect URI is rejected: otherwise others could get the code. */
export const redirectUriCheck: Check = {
  id: 'LOGIN-REDIRECT-URI',
  section: 'login',
  title: 'A redirect URI that is not registered gets an error page, never a redirect',
  clause: 'RFC 6749 section 3.1.2.4; RFC 9700 section 2.1',
  active: true,
  judge: (subject) =>
    judgeBadRequest(
      subject,
      {
        changes: { redirect_uri: strangers },
        named: `A request with the redirect URI ${strangers}, which is not registered,`,
        taken: 'fail',
        fix: 'Compare redirect_uri with the registered ones as strings before anything else, and show an error page where none is equal.',
      },
      (outcome) =>
        outcome.kind === 'error'
          ? fail(
              `The user is sent to ${strangers}, which is not registered, with ${quote(outcome.error)}: the server is an open redirector.`,
              'Show an error page where redirect_uri is not registered. Errors may travel only to a registered redirect URI.',
            )
          : undefined,
    ),
};

/** Checks that an unknown resource is rejected: otherwise one resource could use tokens for another. */
export const unknownResourceCheck: Check = {
  id: 'LOGIN-UNKNOWN-RESOURCE',
  section: 'login',
  title: 'A resource that the server does not know is refused with invalid_target',
  clause: 'RFC 8707 section 2',
  active: true,
  judge: (subject) =>
    judgeBadRequest(subject, {
      changes: { resource: 'https://doctor.invalid/mcp' },
      named: 'A request for the resource https://doctor.invalid/mcp',
      taken: 'warn',
      fix: 'Issue tokens only for resources that the server knows; answer others with error=invalid_target. A server that ignores resource issues tokens that every resource takes.',
    }),
};

/** Judges the authorization response of the first consent. */
async function judgeResponse(subject: Subject, judge: (consent: Consent) => Judgement): Promise<Judgement> {
  const consent = await subject.fact(firstConsent);
  return consent.kind === 'missing' ? consent.judgement : judge(consent);
}

/** Checks the `state` of the response, which ties it to its request. */
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

/** Checks the `iss` of the response, which distinguishes authorization servers. */
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
