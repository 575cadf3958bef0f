import { createHash } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/** Path of the redirect URI. */
export const callbackPath = '/callback';

/** Returns the status with which a request is rejected; undefined for the expected redirect. */
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

/** The result of a login, for its page. */
export type CallbackOutcome = { loggedInTo: string } | 'failed' | 'unknown';

/**
 * Responds to the redirect of a login with its result.
 * @param query of the redirect; the page repeats nothing of it (A6-10)
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
 * Creates the handler for the redirect of one login. Other requests are rejected and change nothing.
 * @param port the listener's port, which the Host of a request has to have
 * @param expected the allowed states: that of the login, also when its page is reloaded
 * @param take gets the query of the redirect, and the response to send
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

const style = `:root{color-scheme:light dark;--ink:#1c1b19;--soft:#5f5b53;--ground:#faf8f4;--line:#ddd7cb}
@media (prefers-color-scheme:dark){:root{--ink:#eeeae2;--soft:#a8a196;--ground:#191815;--line:#3a3731}}
body{margin:0;min-height:100vh;display:grid;place-items:center;background:var(--ground);color:var(--ink);font:1rem/1.5 system-ui,sans-serif}
main{max-width:30rem;margin:1.5rem;padding:2rem;border:1px solid var(--line);border-radius:.75rem}
h1{margin:0 0 .5rem;font-size:1.25rem}p{margin:0;color:var(--soft);overflow-wrap:anywhere}`;

/** Headers of the page, which loads and runs nothing, and is neither framed nor cached. */
export const callbackPageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  connection: 'close',
} as const;

/** Escapes text for HTML. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/**
 * Returns the page after the redirect. It repeats nothing of the query, because error texts may be forged
 * (A6-10).
 * @param heading the result
 * @param text the next step
 */
export function callbackPage(heading: string, text: string): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(heading)}</title><style>${style}</style></head>
<body><main><h1>${escapeHtml(heading)}</h1><p>${escapeHtml(text)}</p></main></body>
</html>
`;
}
