import type { AuthorizationRequest } from '../authorization/code-login.ts';
import {
  askForRefusal,
  type EndpointRefusal,
  readEndpointRefusal,
} from '../authorization/endpoint-refusal.ts';
import { ClientError } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import { quoteWords } from '../quote.ts';
import { isRedirectRefusal } from '../registration/dynamic-registration.ts';

/** Maximum wait for the authorization endpoint, in milliseconds: a browser will request it again. */
const preflightTimeoutMs = 5_000;

/**
 * Errors that a login at the server cannot resolve (RFC 6749 section 4.1.2.1, RFC 8707 section 2, RFC 7591
 * section 3.2.2).
 */
const hopeless = /^(?:invalid_|unauthorized_|unsupported_|redirect_uri_mismatch)/;

/** Statuses for an invalid request. A 401, 403, 429 or 503 may be meant for programs that are no browsers. */
const refusals = new Set([400, 404, 405, 410, 414]);

function refused(what: string, { error, description, title }: EndpointRefusal): ClientError {
  const name = error || title;
  const named = name ? `: ${quoteWords(name)}` : '';
  const because = description ? ` (${quoteWords(description)})` : '';
  return new ClientError(
    isRedirectRefusal(name ?? '', description ?? '') ? 'redirect_uri_refused' : 'authorization_denied',
    `The authorization endpoint refuses this login before anybody is asked; it answers with ${what}${named}${because}.`,
    error ? { oauthError: error } : {},
  );
}

function judgeRedirect(location: URL, redirectUri: string): URLSearchParams | undefined {
  const query = location.searchParams;
  const error = query.get('error');
  if (error === null) return undefined;
  if (`${location.origin}${location.pathname}` === redirectUri) return query;
  if (hopeless.test(error))
    throw refused('a redirect', { error, description: query.get('error_description') ?? undefined });
  return undefined;
}

/**
 * Requests the authorization URL without a browser first. An error that needs no user, such as an unknown
 * scope, then ends the login at once. If the response is unclear, the login continues in the browser.
 * @param context fetch, clock and limits
 * @param request the authorization request
 * @param redirectUri the redirect URI of the response
 * @returns query of an error redirect, which is the response; undefined if the login continues
 * @throws ClientError `authorization_denied` or `redirect_uri_refused` if the server shows an error page
 * @see RFC 6749 section 4.1.2.1
 */
export async function askAuthorizationEndpoint(
  context: ClientContext,
  { url }: AuthorizationRequest,
  redirectUri: string,
): Promise<URLSearchParams | undefined> {
  const timeoutMs = Math.min(context.timeoutMs ?? preflightTimeoutMs, preflightTimeoutMs);
  // The endpoint may be reachable from the user's browser only.
  const signal = AbortSignal.timeout(timeoutMs);
  const ask = (accept: string): Promise<Response> =>
    context.fetch(url, { headers: { accept }, redirect: 'manual', signal });
  const response = await ask('text/html').catch(() => undefined);
  if (response === undefined) return undefined;
  const what = `status ${response.status}`;
  if (refusals.has(response.status)) throw refused(what, await readEndpointRefusal(response, ask));
  await response.body?.cancel();
  // A 403 or 503 may be meant for programs only, like the page of a firewall. If the server also sends an OAuth error as
  // JSON, the error is about the client: it awaits an operator's approval, was denied it, or its document cannot be
  // fetched (FA-52).
  const { status } = response;
  const denied = status === 403 || status === 503 ? await askForRefusal(ask, status) : undefined;
  if (denied !== undefined) throw refused(what, denied);
  const location = URL.parse(response.headers.get('location') ?? '', url);
  return location === null || response.status < 300 || response.status > 399
    ? undefined
    : judgeRedirect(location, redirectUri);
}
