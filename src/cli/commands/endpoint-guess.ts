import type { Fetch } from '../../client/index.ts';

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
