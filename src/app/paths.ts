/** Paths served outside of the doors, relative to the public URL's path. */
export const paths = {
  /** The MCP endpoint. Clients and proxies expect just this. */
  mcp: '/mcp',
  /** Stream of HTTP+SSE, the transport of 2024-11-05, and where its messages are posted. */
  sse: '/sse',
  messages: '/messages',
  /** The Rest transport. */
  rest: '/rest',
  /** Whether the process lives, and whether it should get requests. */
  health: '/healthz',
  readiness: '/readyz',
} as const;

/** Paths that are for programs, whatever they accept. */
export const programPaths = [paths.mcp, paths.sse, paths.messages, paths.rest] as const;

/** Endpoints that answer with a trailing slash as well (A2-05). */
export const slashTolerantPaths = [
  '/authorize',
  '/token',
  '/register',
  '/revoke',
  '/introspect',
  '/jwks',
  '/device',
  '/device/auth',
  '/par',
  '/session/end',
  ...programPaths,
] as const;

/** Paths under which requests are counted, by their first segment. */
export const countedPaths = [
  ...slashTolerantPaths,
  paths.health,
  paths.readiness,
  '/.well-known',
  '/interaction',
  '/account',
] as const;
