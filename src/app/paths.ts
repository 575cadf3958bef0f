/** Paths served outside of the doors, relative to the public URL's path. */
export const paths = {
  /** The MCP endpoint. Clients and proxies expect just this. */
  mcp: '/mcp',
  health: '/healthz',
} as const;

/** Endpoints that answer with a trailing slash as well (A2-05). */
export const slashTolerantPaths = [
  '/authorize',
  '/token',
  '/register',
  '/revoke',
  '/jwks',
  paths.mcp,
] as const;
