import type { DiscoveredServer, Registration } from '../../client/index.ts';
import type { Judgement } from '../finding.ts';
import { nativeRegistrations } from '../registration/native-registrations.ts';
import { isAccepted, tryRegistration } from '../registration/try-registration.ts';
import type { Subject } from '../subject.ts';
import { askForTokens, type TokenAnswer } from './token-answer.ts';

/**
 * Reaction of the server to one method of client authentication. A code that was never issued shows whether the request
 * got that far.
 */
export interface AuthenticationTry {
  method: string;
  /** The registered client; absent if none was registered for the method. */
  client?: Registration;
  /** With the right secret: `invalid_grant` if the authentication worked. */
  right?: TokenAnswer;
  /** With a wrong secret: `invalid_client`. */
  wrong?: TokenAnswer;
  /** With every character of the secret percent-encoded, which means the same; `client_secret_basic` only. */
  encoded?: TokenAnswer;
}

/** The methods that were tried, and the advertised ones that were not. */
export type AuthenticationProbe =
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
 * Probe: registers a client for each method with a secret that the server advertises, and authenticates rightly and
 * wrongly. No user is needed: the code is one that was never issued.
 * @param subject the server under examination
 * @see RFC 6749 sections 2.3.1 and 5.2
 */
export async function clientAuthentications(subject: Subject): Promise<AuthenticationProbe> {
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
