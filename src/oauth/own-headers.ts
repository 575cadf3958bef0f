/** Names of headers that a request says itself: how long it is, how it is read, where it goes, what of MCP it is. */
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
