import * as oauth from 'oauth4webapi';
import { parseChallenges } from '../../oauth/challenge.ts';
import type { ClientContext } from '../context.ts';
import type { Credential, PrivateJwk } from '../stores/credential-store.ts';
import { dpopHandle } from './dpop-handle.ts';

/** @returns whether a body can be sent a second time */
export function isRepeatable(body: RequestInit['body']): boolean {
  return body === undefined || body === null || typeof body === 'string' || body instanceof URLSearchParams;
}

/**
 * Whether the server refused for want of a nonce that it now gave: such an answer says nothing about the token.
 * @see RFC 9449 section 9
 */
function wantsNonce({ status, headers }: Response): boolean {
  if (status !== 401 || !headers.has('dpop-nonce')) return false;
  const challenges = parseChallenges(headers.get('www-authenticate') ?? '');
  return !challenges.some(({ parameters }) => parameters.error === 'invalid_token');
}

/**
 * Sends a request with the access token of a credential: as a bearer token, or with a proof made for this request where
 * the token is bound to a key. A request that lacks the server's nonce is sent once more with it. Redirects are not
 * followed.
 * @param context where requests go through
 * @param credential whose token to send
 * @param url the resource; that it may get the token is for the caller to know
 * @param init the request; its own `Authorization` and `DPoP` are dropped
 * @returns the answer, whatever its status; its body is unread
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

/** oauth4webapi makes the headers and keeps the nonce; everything else of the request stays as the caller made it. */
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
