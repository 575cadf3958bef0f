/** The endpoint paths a 2025-03-26 client uses at the authorization base URL when it finds no metadata (A2-05). */
const defaultEndpoints = {
  authorization: '/authorize',
  token: '/token',
  registration: '/register',
} as const;

/**
 * The 2025-03-26 authorization base URL of an MCP server: its URL with the whole path removed (A2-01).
 * @param mcpUrl URL of the MCP server
 * @see MCP authorization 2025-03-26, section 2.3.2
 */
export function authorizationBaseUrl(mcpUrl: string): string {
  return new URL(mcpUrl).origin;
}

/**
 * The endpoints of a server that publishes no metadata.
 * @param mcpUrl URL of the MCP server
 * @see MCP authorization 2025-03-26, section 2.3.3 (A2-05)
 */
export function fallbackEndpoints(mcpUrl: string): {
  authorization_endpoint: string;
  token_endpoint: string;
  registration_endpoint: string;
} {
  const base = authorizationBaseUrl(mcpUrl);
  return {
    authorization_endpoint: base + defaultEndpoints.authorization,
    token_endpoint: base + defaultEndpoints.token,
    registration_endpoint: base + defaultEndpoints.registration,
  };
}
