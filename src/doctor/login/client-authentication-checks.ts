import type { Check } from '../check.ts';
import { fail, pass, skip, unknown, warn } from '../judgements.ts';
import { clientAuthentications } from './client-authentication.ts';
import { describeTokenAnswer } from './token-answer.ts';

/** Checks that the advertised methods work. */
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
    if (tries.length === 0) return skip(`The server advertises no method with a client secret.${rest}`);
    const evidence = tries.flatMap(({ right, wrong }) =>
      [right, wrong].flatMap((one) => one?.answer.evidence ?? []),
    );
    const broken = tries.flatMap(({ method, right }) =>
      right?.error === 'invalid_client'
        ? [`with ${method} and the right secret a request ${describeTokenAnswer(right)}`]
        : [],
    );
    if (broken.length > 0)
      return fail(
        `${broken.join('; ')}.${rest}`.replace(/^w/, 'W'),
        'Let token_endpoint_auth_methods_supported list only what works: clients take the first method that they know.',
        { evidence },
      );
    const unseen = tries.flatMap(({ method, wrong }) =>
      wrong === undefined || wrong.error === 'invalid_client'
        ? []
        : [`with ${method} and a wrong secret a request ${describeTokenAnswer(wrong)}`],
    );
    if (unseen.length > 0)
      return unknown(
        `${unseen.join('; ')}: the server looks at the code before the secret, if at all.${rest}`.replace(
          /^w/,
          'W',
        ),
        { evidence },
      );
    const working = tries.filter(({ right }) => right !== undefined).map(({ method }) => method);
    const unregistered = tries.filter(({ right }) => right === undefined).map(({ method }) => method);
    if (working.length === 0)
      return unknown(`No client was registered for ${unregistered.join(', ')}.${rest}`);
    const missing =
      unregistered.length === 0 ? '' : ` No client was registered for ${unregistered.join(', ')}.`;
    return pass(
      `The right secret was accepted and a wrong one refused with ${working.join(', ')}.${missing}${rest}`,
      { evidence },
    );
  },
};

/** Checks secrets with special characters, which work only if both sides encode them. */
export const basicEncodingCheck: Check = {
  id: 'LOGIN-BASIC-ENCODING',
  section: 'login',
  title: 'Client id and secret in HTTP Basic are form-decoded',
  clause: 'RFC 6749 section 2.3.1',
  active: true,
  async judge(subject) {
    const probe = await subject.fact(clientAuthentications);
    if (probe.kind === 'untried') return probe.judgement;
    const { right, wrong, encoded } =
      probe.tries.find(({ method }) => method === 'client_secret_basic') ?? {};
    if (right === undefined || encoded === undefined)
      return skip('There is no client with client_secret_basic to ask with.');
    const { evidence } = encoded.answer;
    if (right.error === 'invalid_client')
      return unknown('client_secret_basic does not work at all.', { because: 'LOGIN-CLIENT-AUTH' });
    if (wrong?.error !== 'invalid_client')
      return unknown('The server looks at the code before the secret, so nothing can be told.');
    const saw = `With the secret percent-encoded, a request ${describeTokenAnswer(encoded)}; with the same secret as it is, it ${describeTokenAnswer(right)}.`;
    if (encoded.error === right.error) return pass(saw, { evidence });
    if (encoded.answer.kind === 'unanswered') return unknown(saw, { evidence });
    return warn(
      saw,
      'Decode both halves of the Basic credentials as application/x-www-form-urlencoded, or issue ids and secrets of letters and digits only.',
      { evidence },
    );
  },
};
