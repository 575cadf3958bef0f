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
