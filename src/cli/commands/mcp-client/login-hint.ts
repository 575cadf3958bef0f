import { ClientError, type DiscoveredServer, DiscoveryError, type Fetch } from '../../../client/index.ts';
import { loginCommand } from './client-failure.ts';

/** Failures of a URL where no MCP server is, or not one that wants a login. */
const wrongPlace = new Set<ClientError['reason']>([
  'not_protected',
  'no_metadata',
  'resource_mismatch',
  'redirected',
]);

/** How authorization servers refuse the resource parameter: RFC 8707 section 2, and Microsoft Entra (CL-5). */
const refusesResource = /"invalid_target"|AADSTS(?:9010010|901002)\b/;

/** How others say it in words: "Unknown parameter: resource", "resource is not supported" (FA-27). */
const resourceInWords =
  /\b(?:un\w+|in\w+|not|no|extra|illegal)\b[^".]{0,40}\bresource\b|\bresource\b[^".]{0,40}\b(?:un\w+|in\w+|not|illegal)\b/i;

/** Failures in which an authorization server says why. */
const refusals = new Set<ClientError['reason']>(['authorization_denied', 'token_refused', 'server_error']);

function namedScopes(found: DiscoveredServer | undefined): readonly string[] {
  const { protectedResource, authorizationServer } = found ?? {};
  return protectedResource?.scopes_supported ?? authorizationServer?.scopes_supported ?? [];
}

/**
 * Warns of scopes that a server does not name. It may know them all the same, but a slip of the pen is likelier.
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
    : `This server does not name the scope ${strange.join(' ')}. It names: ${namedScopes(found).join(' ') || [...named].join(' ')}`;
}

/**
 * Says what to try where a login failed: another URL, or scopes the server knows.
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
    if (known.length > 0) return `Scopes this server names: ${known.join(' ')}`;
  }
  if (
    refusesResource.test(error.message) ||
    (found !== undefined && refusals.has(error.reason) && resourceInWords.test(error.message))
  )
    return 'Where it takes no resource parameter at all: --no-resource. Its tokens are then for this server by their scopes only.';
  if (found !== undefined || !wrongPlace.has(error.reason)) return undefined;
  const named = error instanceof DiscoveryError ? error.trace.at(-1)?.resource : undefined;
  const guess = await guessEndpoint(fetch, url, named);
  return guess === undefined ? undefined : `Did you mean ${guess}? ${loginCommand(guess)}`;
}

/** Where MCP servers stand most often. */
const usual = '/mcp';

/** Longest wait for one answer, in milliseconds. */
const guessTimeoutMs = 3_000;

/**
 * @returns URLs the user may have meant: what the metadata there names, on the same origin; else beside `/sse`, without a
 *   slash at the end, below what they gave or its origin; never the one they gave
 */
function candidates(url: URL, named: string | undefined): string[] {
  // A server that says where it is has the last word: what else there may be on its origin is this very server.
  if (named !== undefined && URL.parse(named)?.origin === url.origin) return [new URL(named).href];
  const at = (pathname: string): string => Object.assign(new URL(url), { pathname }).href;
  if (url.pathname === '/') return [at(usual)];
  if (/\/sse\/?$/.test(url.pathname)) return [at(url.pathname.replace(/\/sse\/?$/, usual))];
  if (url.pathname.endsWith('/')) return [at(url.pathname.slice(0, -1))];
  if (url.pathname.endsWith(usual)) return url.pathname === usual ? [] : [at(usual)];
  return [at(`${url.pathname}${usual}`), at(usual)];
}

/** A path that no server has. One that answers there as at a guess answers so everywhere, and the guess says nothing. */
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
 * Looks for the MCP server a user may have meant, where there is none at the URL they gave.
 * @param fetch how it is asked; no token goes along
 * @param url what they gave
 * @param named the `resource` that metadata there names, where that is another one (RFC 9728 section 3.3)
 * @returns a URL where something asks for a token or speaks MCP; undefined where there is none
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
