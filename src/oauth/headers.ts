/** Names of headers that a request says itself: how long it is, how it is read, if it goes, what of MCP it is. */
const own = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const ownFamilies = ['proxy-', 'mcp-param-'];

/**
 * Whether a header is one that each request to an MCP server has of its own, or that frames it: nobody's credential or
 * setting stands there (T-159).
 * @param name in whatever case
 * @see RFC 9110 section 7.6.1, RFC 9112 section 6, MCP 2026-07-28 transports "Streamable HTTP"
 */
export function isOwnHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return own.has(lower) || ownFamilies.some((family) => lower.startsWith(family));
}

/**
 * Returns the values of one header field, each as it was sent: a second `Host` or `Authorization` must be seen, which
 * Node's combined headers drop, and Node's own list of distinct ones is made of all fields to look at one.
 * @param rawHeaders names and values in turn, as `IncomingMessage.rawHeaders` holds them
 * @param name lower-case field name
 * @returns the values in their order
 * @see RFC 9110 section 5.3
 */
export function fieldValues(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const sent = rawHeaders[at];
    if (sent?.length === name.length && sent.toLowerCase() === name) values.push(rawHeaders[at + 1] ?? '');
  }
  return values;
}

/** What the name of a header is: a token (RFC 9110 sections 5.1 and 5.6.2). */
export const headerNamePattern = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

/** What the value of a header may be, empty included, a byte a character (RFC 9110 section 5.5). */
export const headerValuePattern = /^[\t\x20-\x7e\x80-\xff]*$/;
