import { canonicalResource } from '../oauth/resource-indicator.ts';

/** Statuses whose responses cannot be built with a body (WHATWG Fetch, "null body status"). */
export const nullBodyStatuses: ReadonlySet<number> = new Set([101, 103, 204, 205, 304]);

/**
 * Whether an answer leads elsewhere. No request of this client follows it: token and body stay where they were sent.
 * @param answer of a fetch with `redirect: 'manual'`, which browsers show as an opaque one
 * @see RFC 9110 section 15.4 (T-186)
 */
export function isRedirect({ status, type }: Pick<Response, 'status' | 'type'>): boolean {
  return type === 'opaqueredirect' || (status >= 300 && status < 400 && status !== 304);
}

/**
 * Where an MCP server sends a request that it takes under another spelling of its own URL: with a slash at the end, or
 * without. A token for the server is as safe there, as both are one resource.
 * @param url of the request
 * @param answer that redirects; only one that keeps method and body counts
 * @returns undefined for any other redirect
 * @see RFC 9110 sections 15.4.8 and 15.4.9 (T-186)
 */
export function redirectToSpelling(url: string | URL, answer: Response): string | undefined {
  if (answer.status !== 307 && answer.status !== 308) return undefined;
  const target = URL.parse(answer.headers.get('location') ?? '', String(url))?.href;
  const isSame = target !== undefined && canonicalResource(target) === canonicalResource(String(url));
  return isSame && target !== String(url) ? target : undefined;
}
