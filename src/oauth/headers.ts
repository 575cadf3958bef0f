/** Headers that frame a request, control its connection, or belong to MCP. */
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
 * Returns whether each request to an MCP server sets a header itself or is framed by it: no credential or setting may
 * use it (T-159).
 * @param name in any case
 * @see RFC 9110 section 7.6.1, RFC 9112 section 6, MCP 2026-07-28 transports "Streamable HTTP"
 */
export function isOwnHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return own.has(lower) || ownFamilies.some((family) => lower.startsWith(family));
}

/**
 * Returns the values of a header field as sent. Node's combined headers drop a second `Host` or `Authorization`, which
 * must be seen, and Node's list of distinct values parses all fields to look up one.
 * @param rawHeaders alternating names and values of `IncomingMessage.rawHeaders`
 * @param name lower-case field name
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

/** Pattern of a header name: a token (RFC 9110 sections 5.1 and 5.6.2). */
export const headerNamePattern = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

/** Pattern of a header value, possibly empty, one byte per character (RFC 9110 section 5.5). */
export const headerValuePattern = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Encodes as `application/x-www-form-urlencoded`, which leaves `-`, `.`, `_` and `*` unchanged. */
function formEncode(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}

/** Returns the value of `Authorization` by which a client proves its secret (`client_secret_basic`, RFC 6749 section 2.3.1). */
export function basicAuthorization(clientId: string, clientSecret: string): string {
  return `Basic ${btoa(`${formEncode(clientId)}:${formEncode(clientSecret)}`)}`;
}
