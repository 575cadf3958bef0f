import { pathOf } from './well-known.ts';

/**
 * Returns the canonical form of a resource indicator: lower-case scheme and host, no default port, no trailing slash.
 * Clients send `https://x/mcp/`, `HTTPS://X/mcp` and `https://x/mcp` for the same server (A7-01, A7-02).
 * @param value an absolute URI
 * @returns undefined if the value is no absolute http(s) URI, or has a fragment
 * @see RFC 8707 section 2; MCP authorization "Canonical Server URI"
 */
export function canonicalResource(value: string): string | undefined {
  const url = URL.parse(value);
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) return undefined;
  if (value.includes('#') || url.username !== '' || url.password !== '') return undefined;
  return `${url.origin}${pathOf(url)}${url.search}`;
}

/**
 * Returns whether metadata for `resource` may be used for requests to `url`: the same URL, or a parent on the same
 * origin (A3-07). A `resource` with a query has no children.
 * @param resource the `resource` of a metadata document
 * @param url the requested URL
 * @see RFC 9728 section 3.3
 */
export function resourceCovers(resource: string, url: string): boolean {
  const wide = canonicalResource(resource);
  const narrow = canonicalResource(url);
  if (wide === undefined || narrow === undefined) return false;
  if (wide === narrow) return true;
  const [path = ''] = narrow.split('?');
  return !wide.includes('?') && `${path}/`.startsWith(`${wide}/`);
}
