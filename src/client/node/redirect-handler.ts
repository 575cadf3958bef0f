import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { callbackPage, callbackPageHeaders } from './callback-page.ts';

/** Path of the redirect URI. */
export const callbackPath = '/callback';

/** @returns the status a request is refused with; undefined for the redirect that is waited for */
function refusal(
  request: IncomingMessage,
  url: URL | null,
  port: number,
  states: readonly string[],
): number | undefined {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`];
  if (!hosts.includes(request.headers.host ?? '')) return 421;
  if (url?.pathname !== callbackPath) return 404;
  if (request.method !== 'GET') return 405;
  const given = url.searchParams.getAll('state');
  return given.length === 1 && states.includes(given[0] ?? '') ? undefined : 400;
}

function answer(response: ServerResponse, status: number, heading: string, text: string): void {
  response.writeHead(status, callbackPageHeaders).end(callbackPage(heading, text));
}

/** What came of a login, as far as its page says it. */
export type CallbackOutcome = { loggedInTo: string } | 'failed' | 'unknown';

/**
 * Answers the redirect of a login with what came of it.
 * @param query of the redirect: nothing of it is repeated (A6-10)
 */
export function answerRedirect(
  response: ServerResponse,
  query: URLSearchParams,
  outcome: CallbackOutcome,
): void {
  if (typeof outcome === 'object')
    answer(response, 200, `You are logged in to ${outcome.loggedInTo}`, 'You can close this tab.');
  else if (outcome === 'failed' || query.has('error'))
    answer(response, 200, 'Not logged in', 'You can close this tab. The terminal says more.');
  else answer(response, 200, 'Back to the terminal', 'You can close this tab.');
}

/**
 * Takes the redirect of one login; anything else is refused and changes nothing.
 * @param port the port listened on, which the Host of a request has to name
 * @param expected the states that a redirect may have: that of the login, also when its page is loaded again
 * @param take gets the query of the redirect, and the response that it has to answer
 * @returns a listener for Node's HTTP server
 * @see RFC 8252 section 7.3; RFC 6749 section 10.12 (A6-04, A6-10, T-187)
 */
export function redirectHandler(
  port: () => number,
  expected: () => readonly string[],
  take: (query: URLSearchParams, response: ServerResponse) => void,
): RequestListener {
  return (request, response) => {
    const url = URL.parse(request.url ?? '', 'http://127.0.0.1');
    const status = refusal(request, url, port(), expected());
    if (status === undefined && url !== null) return take(url.searchParams, response);
    answer(response, status ?? 400, 'Not this login', 'This address takes the answer of one login only.');
  };
}
