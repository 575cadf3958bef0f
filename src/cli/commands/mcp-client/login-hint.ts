import { ClientError, type DiscoveredServer, DiscoveryError, type Fetch } from '../../../client/index.ts';
import { loginCommand } from './client-failure.ts';

/** Failures that suggest a wrong URL: no MCP server, or none that requires a login. */
const wrongPlace = new Set<ClientError['reason']>([
  'not_protected',
  'no_metadata',
  'resource_mismatch',
  'redirected',
]);

/** Errors of authorization servers that reject the resource parameter: RFC 8707 section 2, and Microsoft Entra (CL-5). */
const refusesResource = /"invalid_target"|AADSTS(?:9010010|901002)\b/;

/** The same in words: "Unknown parameter: resource", "resource is not supported" (FA-27). */
const resourceInWords =
  /\b(?:un\w+|in\w+|not|no|extra|illegal)\b[^".]{0,40}\bresource\b|\bresource\b[^".]{0,40}\b(?:un\w+|in\w+|not|illegal)\b/i;

/** Failures for which an authorization server gives a reason. */
const refusals = new Set<ClientError['reason']>(['authorization_denied', 'token_refused', 'server_error']);

function namedScopes(found: DiscoveredServer | undefined): readonly string[] {
  const { protectedResource, authorizationServer } = found ?? {};
  return protectedResource?.scopes_supported ?? authorizationServer?.scopes_supported ?? [];
}

/**
 * Warns about scopes that a server does not list. The server may know them, but a typing error is more likely.
 * @param found what discovery found
 * @param scopes what the user asks for
 * @returns a sentence, or undefined
 * @see RFC 9728 section 2 `scopes_supported` (A8-06)
 */
export function warnOfScopes(found: DiscoveredServer, scopes: readonly string[] = []): string | undefined {
  const named = new Set([
    ...namedScopes(found),
    ...(found.authorizationServer.scopes_supported ?? []),
    ...(found.challengedScopes ?? []),
  ]);
  const strange = scopes.filter((scope) => !named.has(scope));
  return named.size === 0 || strange.length === 0
    ? undefined
    : `This server does not list the scope ${strange.join(' ')}. It lists: ${namedScopes(found).join(' ') || [...named].join(' ')}`;
}

/**
 * Suggests what to try after a failed login: another URL, or scopes of the server.
 * @param error what stopped it
 * @param url URL of the MCP server, as the user gave it
 * @param found what discovery found before
 * @param fetch how another URL is looked for
 * @returns a sentence, or undefined
 */
export async function hintAtLogin(
  error: unknown,
  url: string,
  found: DiscoveredServer | undefined,
  fetch: Fetch,
): Promise<string | undefined> {
  if (!(error instanceof ClientError)) return undefined;
  if (error.message.includes('"invalid_scope"')) {
    const known = namedScopes(found);
    if (known.length > 0) return `Scopes of this server: ${known.join(' ')}`;
  }
  if (
    refusesResource.test(error.message) ||
    (found !== undefined && refusals.has(error.reason) && resourceInWords.test(error.message))
  )
    return 'If it accepts no resource parameter at all: --no-resource. Then only scopes bind its tokens to this server.';
  if (found !== undefined || !wrongPlace.has(error.reason)) return undefined;
  const named = error instanceof DiscoveryError ? error.trace.at(-1)?.resource : undefined;
  const guess = await guessEndpoint(fetch, url, named);
  return guess === undefined ? undefined : `Did you mean ${guess}? ${loginCommand(guess)}`;
}

/** The usual path of MCP servers. */
const usual = '/mcp';

/** Longest wait for one answer, in milliseconds. */
const guessTimeoutMs = 3_000;

/**
 * @returns URLs the user may have meant: what the metadata there names, on the same origin; else beside `/sse`, without a
 *   slash at the end, below what they gave or its origin; never the one they gave
 */
function candidates(url: URL, named: string | undefined): string[] {
  // A server that names its URL is right: other guesses on its origin would lead to the same server.
  if (named !== undefined && URL.parse(named)?.origin === url.origin) return [new URL(named).href];
  const at = (pathname: string): string => Object.assign(new URL(url), { pathname }).href;
  if (url.pathname === '/') return [at(usual)];
  if (/\/sse\/?$/.test(url.pathname)) return [at(url.pathname.replace(/\/sse\/?$/, usual))];
  if (url.pathname.endsWith('/')) return [at(url.pathname.slice(0, -1))];
  if (url.pathname.endsWith(usual)) return url.pathname === usual ? [] : [at(usual)];
  return [at(`${url.pathname}${usual}`), at(usual)];
}

/** A path that no server has. If the server responds there as at the guess, it responds so everywhere, and the guess is wrong. */
const nowhere = '/gatehouse-looks-for-no-server-here';

/** @returns the status of a POST to which something answers that asks for a token or speaks MCP */
async function askEndpoint(fetch: Fetch, url: string): Promise<number | undefined> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    redirect: 'manual',
    signal: AbortSignal.timeout(guessTimeoutMs),
  }).catch(() => undefined);
  await response?.body?.cancel();
  if (response === undefined) return undefined;
  const { status, headers } = response;
  const type = headers.get('content-type') ?? '';
  const speaks = [200, 400].includes(status) && /^(?:application\/json|text\/event-stream)/.test(type);
  return speaks || (status === 401 && headers.has('www-authenticate')) ? status : undefined;
}

/**
 * Searches for the MCP server that a user may have meant, if there is none at the given URL.
 * @param fetch how it is asked; no token goes along
 * @param url what they gave
 * @param named the `resource` of the metadata there, if it is another URL (RFC 9728 section 3.3)
 * @returns a URL that requires a token or speaks MCP; undefined if there is none
 * @see MCP transports "Sending Messages to the Server"
 */
export async function guessEndpoint(fetch: Fetch, url: string, named?: string): Promise<string | undefined> {
  for (const candidate of candidates(new URL(url), named)) {
    const status = await askEndpoint(fetch, candidate);
    if (status === undefined) continue;
    const elsewhere = await askEndpoint(fetch, new URL(nowhere, url).href);
    return elsewhere === status ? undefined : candidate;
  }
  return undefined;
}
