import * as oauth from 'oauth4webapi';
import { ClientError } from './client-error.ts';
import type { ClientContext } from './context.ts';
import { limitedFetch } from './limited-fetch.ts';
import { quote } from './quote.ts';
import type { Registration } from './stores/credential-store.ts';

/**
 * Options for every oauth4webapi request. Its own https rule is off because {@link limitedFetch} has a stricter one
 * that knows loopback hosts.
 * @param context where requests go through
 */
export function exchangeOptions(context: ClientContext): {
  [oauth.customFetch]: (url: string, init: RequestInit) => Promise<Response>;
  [oauth.allowInsecureRequests]: true;
} {
  return { [oauth.customFetch]: limitedFetch(context), [oauth.allowInsecureRequests]: true };
}

/**
 * How a client authenticates: as it was registered, else by a method the server supports; without a secret not at all.
 * @param registration the client
 * @param supported `token_endpoint_auth_methods_supported`; absent means `client_secret_basic` (RFC 8414 section 2)
 * @see RFC 6749 section 2.3.1 (A8-11)
 */
export function clientAuthentication(
  registration: Registration,
  supported: readonly string[] = ['client_secret_basic'],
): oauth.ClientAuth {
  const { clientSecret, tokenEndpointAuthMethod } = registration;
  if (clientSecret === undefined || tokenEndpointAuthMethod === 'none') return oauth.None();
  const basic = supported.includes('client_secret_basic') || !supported.includes('client_secret_post');
  const method = tokenEndpointAuthMethod ?? (basic ? 'client_secret_basic' : 'client_secret_post');
  return method === 'client_secret_post'
    ? oauth.ClientSecretPost(clientSecret)
    : basicAuthentication(clientSecret);
}

/** @returns the text in `application/x-www-form-urlencoded`, which leaves `-`, `.`, `_` and `*` as they are */
function formEncode(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}

/**
 * `client_secret_basic`. oauth4webapi also encodes `-` and `_`; servers that forget to decode, and there are many,
 * would then refuse most generated ids and secrets.
 */
function basicAuthentication(clientSecret: string): oauth.ClientAuth {
  return (_as, { client_id: clientId }, _body, headers) => {
    const credentials = `${formEncode(clientId)}:${formEncode(clientSecret)}`;
    headers.set('authorization', `Basic ${btoa(credentials)}`);
  };
}

/** An error answer of an OAuth endpoint, as far as it may be repeated. */
export interface OAuthRefusal {
  /** The `error` code; absent where the answer was no OAuth error. */
  error?: string;
  /** A sentence for people, foreign text quoted. */
  message: string;
}

/**
 * Reads why an endpoint refused, from what oauth4webapi threw. Bodies are not repeated: they may hold tokens.
 * @param thrown what oauth4webapi threw
 * @param endpoint what was asked, for the message
 * @returns the refusal
 * @throws ClientError as it is, where the request itself failed
 * @see RFC 6749 section 5.2
 */
export async function readRefusal(thrown: unknown, endpoint: string): Promise<OAuthRefusal> {
  if (thrown instanceof ClientError) throw thrown;
  if (thrown instanceof oauth.ResponseBodyError)
    return refusal(thrown.error, thrown.error_description, endpoint);
  if (thrown instanceof oauth.WWWAuthenticateChallengeError) {
    const body: unknown = await thrown.response.json().catch(() => undefined);
    const { error, error_description: description } = Object(body) as Record<string, unknown>;
    return refusal(
      typeof error === 'string' ? error : 'invalid_client',
      typeof description === 'string' ? description : undefined,
      endpoint,
    );
  }
  if (thrown instanceof oauth.OperationProcessingError || thrown instanceof oauth.UnsupportedOperationError)
    return {
      message: `The ${endpoint} sent an answer that does not follow the standard: ${thrown.message}.`,
    };
  throw thrown;
}

function refusal(error: string, description: string | undefined, endpoint: string): OAuthRefusal {
  const because = description === undefined ? '' : ` (${quote(description)})`;
  return { error, message: `The ${endpoint} refused: ${quote(error)}${because}.` };
}
