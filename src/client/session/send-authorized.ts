import * as oauth from 'oauth4webapi';
import { parseChallenges } from '../../oauth/challenge.ts';
import type { ClientContext } from '../context.ts';
import type { Credential, PrivateJwk } from '../stores/credential-store.ts';
import { dpopHandle } from '../tokens/dpop.ts';

/** Checks if a body can be sent a second time. */
export function isRepeatable(body: RequestInit['body']): boolean {
  return body === undefined || body === null || typeof body === 'string' || body instanceof URLSearchParams;
}

/**
 * Checks if the server only requires the nonce that it now sent: such a response says nothing about the
 * token.
 * @see RFC 9449 section 9
 */
function wantsNonce({ status, headers }: Response): boolean {
  if (status !== 401 || !headers.has('dpop-nonce')) return false;
  const challenges = parseChallenges(headers.get('www-authenticate') ?? '');
  return !challenges.some(({ parameters }) => parameters.error === 'invalid_token');
}

/**
 * Sends a request with the access token of a credential: as a bearer token, or with a DPoP proof if the token
 * is bound to a key. If the server requires a nonce, the request is repeated once with it. Redirects are not
 * followed.
 * @param context fetch, clock and limits
 * @param credential the credential with the token
 * @param url the resource; the caller has checked that it may get the token
 * @param init the request; its own `Authorization` and `DPoP` are removed
 * @returns the response, with any status; its body is unread
 * @see RFC 6750 section 2.1; RFC 9449 sections 7.1 and 9 (A7-05, A13-09)
 */
export async function sendAuthorized(
  context: ClientContext,
  credential: Pick<Credential, 'accessToken' | 'dpopKey'>,
  url: string | URL,
  init: RequestInit = {},
): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.delete('authorization');
  headers.delete('dpop');
  const { accessToken, dpopKey } = credential;
  if (dpopKey === undefined) {
    headers.set('authorization', `Bearer ${accessToken}`);
    return context.fetch(url, { ...init, headers, redirect: 'manual' });
  }
  const send = () => sendProven(context, { accessToken, dpopKey }, new URL(url), { ...init, headers });
  const response = await send();
  if (!wantsNonce(response) || !isRepeatable(init.body)) return response;
  await response.body?.cancel();
  return send();
}

/**
 * oauth4webapi creates the headers and remembers the nonce; the rest of the request stays as the caller made
 * it.
 */
async function sendProven(
  context: ClientContext,
  { accessToken, dpopKey }: { accessToken: string; dpopKey: PrivateJwk },
  url: URL,
  init: RequestInit & { headers: Headers },
): Promise<Response> {
  const options: oauth.ProtectedResourceRequestOptions = {
    DPoP: await dpopHandle(context, dpopKey),
    [oauth.allowInsecureRequests]: true,
    [oauth.customFetch]: (to, { headers }) => context.fetch(to, { ...init, headers, redirect: 'manual' }),
  };
  try {
    const { method = 'GET', headers } = init;
    return await oauth.protectedResourceRequest(accessToken, method, url, headers, undefined, options);
  } catch (error) {
    if (error instanceof oauth.WWWAuthenticateChallengeError) return error.response;
    throw error;
  }
}
