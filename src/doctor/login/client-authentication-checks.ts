import type { Check } from '../check.ts';
import { clientAuthentications } from './client-authentication.ts';
import { describeTokenAnswer } from './token-answer.ts';

/** What is advertised works. */
export const clientAuthenticationCheck: Check = {
  id: 'LOGIN-CLIENT-AUTH',
  section: 'login',
  title: 'Each advertised way of client authentication works, and a wrong secret is refused',
  clause: 'RFC 6749 sections 2.3.1 and 5.2; RFC 8414 section 2',
  active: true,
  async judge(subject) {
    const probe = await subject.fact(clientAuthentications);
    if (probe.kind === 'untried') return probe.judgement;
    const { tries, untried } = probe;
    const rest = untried.length === 0 ? '' : ` Not tried: ${untried.join(', ')}.`;
    if (tries.length === 0)
      return { verdict: 'skip', saw: `The server advertises no method with a client secret.${rest}` };
    const evidence = tries.flatMap(({ right, wrong }) =>
      [right, wrong].flatMap((one) => one?.answer.evidence ?? []),
    );
    const faults = tries.flatMap(({ method, right, wrong }) => {
      if (right === undefined || wrong === undefined) return [];
      if (right.error === 'invalid_client')
        return [`with ${method} and the right secret a request ${describeTokenAnswer(right)}`];
      if (wrong.error !== 'invalid_client')
        return [`with ${method} and a wrong secret a request ${describeTokenAnswer(wrong)}`];
      return [];
    });
    if (faults.length > 0)
      return {
        verdict: 'fail',
        saw: `${faults.join('; ')}.${rest}`.replace(/^w/, 'W'),
        fix: 'Let token_endpoint_auth_methods_supported list only what works, check the secret of every request, and answer a wrong one with 401 and {"error":"invalid_client"}.',
        evidence,
      };
    const working = tries.filter(({ right }) => right !== undefined).map(({ method }) => method);
    const unregistered = tries.filter(({ right }) => right === undefined).map(({ method }) => method);
    if (working.length === 0)
      return { verdict: 'unknown', saw: `No client was registered for ${unregistered.join(', ')}.${rest}` };
    const missing =
      unregistered.length === 0 ? '' : ` No client was registered for ${unregistered.join(', ')}.`;
    return {
      verdict: 'pass',
      saw: `The right secret was accepted and a wrong one refused with ${working.join(', ')}.${missing}${rest}`,
      evidence,
    };
  },
};

/** Secrets with special characters work only where both sides encode. */
export const basicEncodingCheck: Check = {
  id: 'LOGIN-BASIC-ENCODING',
  section: 'login',
  title: 'Client id and secret in HTTP Basic are form-decoded',
  clause: 'RFC 6749 section 2.3.1',
  active: true,
  async judge(subject) {
    const probe = await subject.fact(clientAuthentications);
    if (probe.kind === 'untried') return probe.judgement;
    const { right, encoded } = probe.tries.find(({ method }) => method === 'client_secret_basic') ?? {};
    if (right === undefined || encoded === undefined)
      return { verdict: 'skip', saw: 'There is no client with client_secret_basic to ask with.' };
    const { evidence } = encoded.answer;
    if (right.error === 'invalid_client')
      return {
        verdict: 'unknown',
        saw: 'client_secret_basic does not work at all.',
        because: 'LOGIN-CLIENT-AUTH',
      };
    const saw = `With the secret percent-encoded, a request ${describeTokenAnswer(encoded)}; with the same secret as it is, it ${describeTokenAnswer(right)}.`;
    if (encoded.error === right.error) return { verdict: 'pass', saw, evidence };
    if (encoded.answer.kind === 'unanswered') return { verdict: 'unknown', saw, evidence };
    return {
      verdict: 'warn',
      saw,
      fix: 'Decode both halves of the Basic credentials as application/x-www-form-urlencoded, or issue ids and secrets of letters and digits only.',
      evidence,
    };
  },
};
