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
  return [at(`${url.pathname}${usual}`), ...(url.pathname === usual ? [] : [at(usual)])];
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
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
  for (const candidate of candidates(new URL(url), named)) {
    const response = await fetch(candidate, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(guessTimeoutMs),
    }).catch(() => undefined);
    await response?.body?.cancel();
    if (response === undefined) continue;
    const type = response.headers.get('content-type') ?? '';
    const speaks =
      [200, 400].includes(response.status) && /^(?:application\/json|text\/event-stream)/.test(type);
    if (speaks || (response.status === 401 && response.headers.has('www-authenticate'))) return candidate;
  }
  return undefined;
}
