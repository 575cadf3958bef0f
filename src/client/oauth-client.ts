import type { CryptoKey } from 'jose';
import * as oauth from 'oauth4webapi';
import {
  type AnswerKind,
  asText,
  decodeBody,
  isSuccess,
  mediaTypeOf,
  readForeignAnswer,
} from '../oauth/foreign-json.ts';
import { basicAuthorization } from '../oauth/headers.ts';
import { ClientError } from './client-error.ts';
import { signingKey } from './client-key.ts';
import type { ClientContext } from './context.ts';
import { limitedFetch } from './limited-fetch.ts';
import { quote } from './quote.ts';
import type { PrivateJwk, Registration } from './stores/credential-store.ts';

/** A client's identity at an authorization server, and its credentials there. */
export type ClientIdentity = Pick<Registration, 'clientId' | 'clientSecret' | 'tokenEndpointAuthMethod'> & {
  /** A `CryptoKey` may be non-exportable; no store can hold it. */
  privateKey?: PrivateJwk | CryptoKey;
};

/**
 * A response that contains neither the expected members nor an OAuth error. Its body is not kept: it may
 * contain anything.
 */
class UnreadableAnswer extends Error {
  readonly status: number;
  /** A description of the response, for the message. */
  readonly seen: string;

  constructor(status: number, contentType: string | null, text: string) {
    super('neither an answer nor an error');
    this.status = status;
    const type = mediaTypeOf(contentType);
    if (text.trim() === '') this.seen = 'without a body';
    else this.seen = type === '' ? 'without a media type' : `with ${quote(type)}`;
  }
}

/** Options for one request to an authorization server. */
export interface ExchangeKind {
  /** The expected response; by default one without members. */
  kind?: AnswerKind;
  /** Called with the refresh token of a token response, before the rest of the response is checked. */
  issued?: (refreshToken: string) => void;
}

/** Converts a response to one that follows the standard, if it contains the required members. */
async function readAnswer(
  context: ClientContext,
  { kind, issued }: ExchangeKind,
  response: Response,
): Promise<Response> {
  const { status, headers } = response;
  if (kind === undefined) return isSuccess(status) ? new Response(null, { status: 200 }) : response;
  const text = decodeBody(await response.arrayBuffer());
  const contentType = headers.get('content-type');
  const answer = readForeignAnswer({ status, contentType, text }, kind, context.tolerated);
  if (answer === undefined && headers.has('www-authenticate') && !isSuccess(status))
    return new Response(text, { status, headers });
  if (answer === undefined) throw new UnreadableAnswer(status, contentType, text);
  // The client uses no ID token, so an invalid one must not make the response fail.
  const { id_token: _, ...members } = answer.members;
  const successor = asText(members.refresh_token);
  if (isSuccess(answer.status) && successor !== undefined) issued?.(successor);
  const kept = new Headers(headers);
  kept.delete('content-length');
  kept.delete('content-encoding');
  if (isSuccess(answer.status)) kept.delete('www-authenticate');
  kept.set('content-type', 'application/json');
  return new Response(JSON.stringify(members), { status: answer.status, headers: kept });
}

/**
 * Returns the options for an oauth4webapi request. Its own https rule is off because {@link limitedFetch} has
 * a stricter one that knows loopback hosts. Responses are read with the tolerances of docs/tolerances.md
 * before oauth4webapi checks them.
 * @param context fetch, clock and limits
 * @param exchange the expected response
 */
export function exchangeOptions(
  context: ClientContext,
  exchange: ExchangeKind = {},
): {
  [oauth.customFetch]: (url: string, init: RequestInit) => Promise<Response>;
  [oauth.allowInsecureRequests]: true;
} {
  const send = limitedFetch(context, { followsWithinOrigin: true });
  return {
    [oauth.customFetch]: async (url, init) => readAnswer(context, exchange, await send(url, init)),
    [oauth.allowInsecureRequests]: true,
  };
}

/** Creates a client for oauth4webapi whose signatures use the clock of the context. */
export function oauthClient(context: ClientContext, clientId: string): oauth.Client {
  return { client_id: clientId, [oauth.clockSkew]: context.now() - Math.floor(Date.now() / 1000) };
}

/**
 * Chooses the client authentication method: the registered one, else the private key, else a method with a
 * secret that the server supports, else none.
 * @param client the client
 * @param supported `token_endpoint_auth_methods_supported`; absent means `client_secret_basic` (RFC 8414
 *   section 2)
 * @throws ClientError `bad_key` if the client is registered with a key that is missing here
 * @see RFC 6749 section 2.3.1; RFC 7523 sections 2.2 and 3 (A8-11, A13-02)
 */
export function clientAuthentication(
  client: ClientIdentity,
  supported: readonly string[] = ['client_secret_basic'],
): oauth.ClientAuth {
  const { clientSecret, privateKey, tokenEndpointAuthMethod } = client;
  if ((tokenEndpointAuthMethod ?? 'private_key_jwt') === 'private_key_jwt') {
    if (privateKey !== undefined) return privateKeyJwt(privateKey);
    if (tokenEndpointAuthMethod !== undefined)
      throw new ClientError('bad_key', 'The client is registered with a private key. Give that key.');
  }
  if (clientSecret === undefined || tokenEndpointAuthMethod === 'none') return oauth.None();
  const basic = supported.includes('client_secret_basic') || !supported.includes('client_secret_post');
  const method = tokenEndpointAuthMethod ?? (basic ? 'client_secret_basic' : 'client_secret_post');
  return method === 'client_secret_post'
    ? oauth.ClientSecretPost(clientSecret)
    : basicAuthentication(clientSecret);
}

/**
 * `client_secret_basic`. oauth4webapi also encodes `-` and `_`; the many servers that forget to decode would
 * then reject most generated ids and secrets.
 */
function basicAuthentication(clientSecret: string): oauth.ClientAuth {
  return (_as, { client_id: clientId }, _body, headers) => {
    headers.set('authorization', basicAuthorization(clientId, clientSecret));
  };
}

/**
 * `private_key_jwt`: an assertion for this issuer only, used once, valid for a minute. Servers know Ed25519
 * under its older name EdDSA.
 */
function privateKeyJwt(privateKey: PrivateJwk | CryptoKey): oauth.ClientAuth {
  return async (as, client, body, headers) => {
    const kept = 'kty' in privateKey ? privateKey : undefined;
    const key = 'kty' in privateKey ? await signingKey(privateKey) : privateKey;
    const named = kept?.kid === undefined ? key : { key, kid: kept.kid };
    const authenticate = oauth.PrivateKeyJwt(named, {
      [oauth.modifyAssertion]: (header) => {
        if (header.alg === 'Ed25519' && kept?.alg !== 'Ed25519') header.alg = 'EdDSA';
      },
    });
    await authenticate(as, client, body, headers);
  };
}

/** An error response of an OAuth endpoint, as far as a message may repeat it. */
export interface OAuthRefusal {
  /** The `error` code; absent if the response was no OAuth error. */
  error?: string;
  /**
   * Set if the response was only a challenge: `invalid_client` is then a guess, because a proxy may have sent
   * it.
   */
  isGuess?: true;
  /** A sentence for people; foreign text is quoted. */
  message: string;
}

/**
 * Reads the refusal of an endpoint from the error that oauth4webapi threw. The message contains no body,
 * which may hold tokens.
 * @param thrown the error of oauth4webapi
 * @param endpoint the name of the endpoint, for the message
 * @throws ClientError unchanged, if the request itself failed
 * @see RFC 6749 section 5.2
 */
export async function readRefusal(thrown: unknown, endpoint: string): Promise<OAuthRefusal> {
  if (thrown instanceof ClientError) throw thrown;
  if (thrown instanceof oauth.ResponseBodyError)
    return refusal(thrown.error, thrown.error_description, endpoint);
  if (thrown instanceof oauth.WWWAuthenticateChallengeError) {
    const body: unknown = await thrown.response.json().catch(() => undefined);
    const { error, error_description: description } = Object(body) as Record<string, unknown>;
    if (typeof error !== 'string') {
      const message = `The ${endpoint} refused with status ${thrown.status} and no reason.`;
      return { error: 'invalid_client', isGuess: true, message };
    }
    return refusal(error, typeof description === 'string' ? description : undefined, endpoint);
  }
  if (thrown instanceof UnreadableAnswer) {
    const { status, seen } = thrown;
    return {
      message: `The ${endpoint} answered with status ${status}, ${seen}, and neither ${isSuccess(status) ? 'what was asked for' : 'a reason'} nor an error of OAuth. ${adviceAbout(status)}`,
    };
  }
  const { body } = Object(Object(thrown).cause) as { body?: { token_type?: unknown } };
  if (thrown instanceof oauth.UnsupportedOperationError && body?.token_type !== undefined)
    return {
      message: `The ${endpoint} issued a token of the type ${quote(body.token_type)}, which this client cannot use.`,
    };
  if (thrown instanceof oauth.OperationProcessingError || thrown instanceof oauth.UnsupportedOperationError)
    return {
      message: `The ${endpoint} sent an answer that does not follow the standard: ${thrown.message}.`,
    };
  throw thrown;
}

/** Returns advice about a status without a reason. */
function adviceAbout(status: number): string {
  if (status === 404 || status === 405 || status === 410)
    return 'Nothing takes such a request there: the metadata names the wrong address, or something in front of it answers.';
  if (status === 408 || status === 425 || status === 429 || status >= 500) return 'Try again later.';
  return 'Its operator has to look into its log.';
}

function refusal(error: string, description: string | undefined, endpoint: string): OAuthRefusal {
  const because = description === undefined ? '' : ` (${quote(description)})`;
  return { error, message: `The ${endpoint} refused: ${quote(error)}${because}.` };
}

/**
 * Returns the `resource` parameter of a request to an authorization server. It is always sent, unless the
 * user disabled it for a server that rejects it: then only scopes bind the token to the MCP server (CL-5).
 * @param login the resource, and that choice
 * @see RFC 8707 section 2; MCP authorization "Resource Parameter Implementation" (A7-01)
 */
export function resourceParameter({
  resource,
  withoutResource,
}: {
  resource: string;
  withoutResource?: true | undefined;
}): { resource?: string } {
  return withoutResource ? {} : { resource };
}
