/** Registered suffixes of the documents that are served and fetched. */
export const wellKnown = {
  /** RFC 8414 section 3. */
  authorizationServer: '/.well-known/oauth-authorization-server',
  /** OpenID Connect Discovery 1.0 section 4. */
  openidConfiguration: '/.well-known/openid-configuration',
  /** RFC 9728 section 3. */
  protectedResource: '/.well-known/oauth-protected-resource',
} as const;

/**
 * Returns the path of a URL without a single trailing slash: `''` for an origin. Several trailing slashes stay, as they
 * name another path.
 */
export function pathOf(url: string | URL): string {
  return new URL(url).pathname.replace(/(?<!\/)\/$/, '');
}

/**
 * Returns the URLs of an issuer's metadata, in the order in which clients request them.
 * @param issuer issuer identifier
 * @returns absolute URLs; two for an issuer without a path, three with one
 * @see MCP authorization 2025-11-25 "Authorization Server Metadata Discovery"; RFC 8414 section 3.1 (A4-02, A4-03)
 */
export function authorizationServerMetadataUrls(issuer: string): string[] {
  const { origin } = new URL(issuer);
  const path = pathOf(issuer);
  if (path === '')
    return [`${origin}${wellKnown.authorizationServer}`, `${origin}${wellKnown.openidConfiguration}`];
  return [
    `${origin}${wellKnown.authorizationServer}${path}`,
    `${origin}${wellKnown.openidConfiguration}${path}`,
    `${origin}${path}${wellKnown.openidConfiguration}`,
  ];
}

/**
 * Returns the URLs of a protected resource's metadata: the path-inserted form (with the query after the path), then the
 * root.
 * @param resource URL of the protected resource
 * @see RFC 9728 section 3.1 (A3-03, A3-05)
 */
export function protectedResourceMetadataUrls(resource: string): string[] {
  const { origin, search } = new URL(resource);
  const inserted = `${pathOf(resource)}${search}`;
  const root = `${origin}${wellKnown.protectedResource}`;
  return inserted === '' ? [root] : [`${root}${inserted}`, root];
}

/**
 * Returns the URL of a protected resource's metadata for its challenges: the path-inserted form.
 * @param resource URL of the protected resource
 * @see RFC 9728 section 3.1
 */
export function protectedResourceMetadataUrl(resource: string): string {
  return `${new URL(resource).origin}${wellKnown.protectedResource}${pathOf(resource)}`;
}

/** The endpoint paths that a 2025-03-26 client uses at the authorization base URL if there is no metadata (A2-05). */
const defaultEndpoints = {
  authorization: '/authorize',
  token: '/token',
  registration: '/register',
} as const;

/**
 * Returns the 2025-03-26 authorization base URL of an MCP server: its URL without the path (A2-01).
 * @param mcpUrl URL of the MCP server
 * @see MCP authorization 2025-03-26, section 2.3.2
 */
export function authorizationBaseUrl(mcpUrl: string): string {
  return new URL(mcpUrl).origin;
}

/**
 * Returns the endpoints of a server without metadata.
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
