import type { DiscoveredServer, Registration } from '../../client/index.ts';
import { type Check, fail, type Judgement, pass, skip, unknown, warn } from '../check.ts';
import { isAccepted, nativeRegistrations, tryRegistration } from '../registration/try-registration.ts';
import type { Subject } from '../subject.ts';
import { askForTokens, describeTokenAnswer, type TokenAnswer } from './session.ts';

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

/**
 * Reaction of the server to one method of client authentication. A code that was never issued shows whether the request
 * got that far.
 */
interface AuthenticationTry {
  method: string;
  /** The registered client; absent if none was registered for the method. */
  client?: Registration;
  /** With the right secret: `invalid_grant` if the authentication worked. */
  right?: TokenAnswer;
  /** With a wrong secret: `invalid_client`. */
  wrong?: TokenAnswer;
  /** With every character of the secret percent-encoded, which is equivalent; only for `client_secret_basic`. */
  encoded?: TokenAnswer;
}

/** The methods that were tried, and the advertised ones that were not. */
type AuthenticationProbe =
  | { kind: 'tried'; tries: AuthenticationTry[]; untried: string[] }
  | { kind: 'untried'; judgement: Judgement };

const secretMethods = ['client_secret_basic', 'client_secret_post'];

const wrongGrant = {
  grant_type: 'authorization_code',
  code: 'gatehouse-doctor-asks-with-a-code-that-was-never-issued',
  redirect_uri: 'http://127.0.0.1:53682/callback',
  code_verifier: 'gatehouse-doctor-asks-with-a-verifier-of-no-code',
};

function percentEncoded(text: string): string {
  return [...new TextEncoder().encode(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}

async function askEncoded(
  subject: Subject,
  found: DiscoveredServer,
  client: Registration,
): Promise<TokenAnswer> {
  const { clientId, clientSecret = '' } = client;
  // Sent by hand: a sound client encodes only what has to be, and would not show whether the server decodes.
  const credentials = btoa(`${encodeURIComponent(clientId)}:${percentEncoded(clientSecret)}`);
  const plain: Registration = { ...client, tokenEndpointAuthMethod: 'none' };
  const { context } = subject;
  const withBasic: Subject = {
    ...subject,
    context: {
      ...context,
      fetch: (url, init) => {
        const headers = new Headers(init?.headers);
        headers.set('authorization', `Basic ${credentials}`);
        const body = new URLSearchParams(String(init?.body));
        body.delete('client_id');
        return context.fetch(url, { ...init, headers, body: body.toString() });
      },
    },
  };
  return askForTokens(withBasic, found.authorizationServer, plain, wrongGrant);
}

/**
 * Fact: the responses to right and wrong client authentication, for each advertised method with a secret. No user is
 * needed, because the code was never issued.
 * @see RFC 6749 sections 2.3.1 and 5.2
 */
async function clientAuthentications(subject: Subject): Promise<AuthenticationProbe> {
  const probe = await subject.fact(nativeRegistrations);
  if (probe.kind === 'untried') return probe;
  const { found } = probe;
  const { authorizationServer: as } = found;
  const advertised = as.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const untried = advertised.filter((method) => method !== 'none' && !secretMethods.includes(method));
  const tries: AuthenticationTry[] = [];
  for (const method of advertised.filter((one) => secretMethods.includes(one))) {
    const type = probe.untyped === undefined ? {} : { application_type: undefined };
    const attempt = await tryRegistration(subject, found, { ...type, token_endpoint_auth_method: method });
    const { client } = attempt;
    if (
      !isAccepted(attempt) ||
      client?.clientSecret === undefined ||
      client.tokenEndpointAuthMethod !== method
    ) {
      tries.push({ method });
      continue;
    }
    const stranger = { ...client, clientSecret: `${client.clientSecret}-not` };
    tries.push({
      method,
      client,
      right: await askForTokens(subject, as, client, wrongGrant),
      wrong: await askForTokens(subject, as, stranger, wrongGrant),
      ...(method === 'client_secret_basic' ? { encoded: await askEncoded(subject, found, client) } : {}),
    });
  }
  return { kind: 'tried', tries, untried };
}
