import type { AuthorizationServerOptions } from '../authorization-server/index.ts';
import type { McpEndpoint } from '../mcp/index.ts';

/** What the view is made of. */
export interface McpViewOptions {
  issuer: string;
  /** Identifiers of the protected resources the endpoint is. */
  own: readonly string[];
  accessTokenSeconds: number;
  /** Epoch seconds. */
  now: () => number;
}

/**
 * Gives what the authorization server asks of the MCP endpoint in the same process: the tools that scopes open, and the
 * sessions of an account.
 * @param endpoint gives the endpoint, which is made after the authorization server; called only when somebody asks
 */
export function viewMcp(
  endpoint: () => Pick<McpEndpoint, 'toolsOf' | 'accountSessions'>,
  { issuer, own, accessTokenSeconds, now }: McpViewOptions,
): Pick<AuthorizationServerOptions, 'toolsOf' | 'mcpConnections'> {
  return {
    toolsOf: async ({ accountId, clientId, resource, scopes }) =>
      own.includes(resource)
        ? endpoint().toolsOf({
            issuer,
            subject: accountId,
            clientId,
            scopes,
            audience: resource,
            expiresAt: now() + accessTokenSeconds,
          })
        : undefined,
    mcpConnections: {
      list: (subject) => endpoint().accountSessions.list({ issuer, subject }),
      end: (subject, key) => endpoint().accountSessions.end({ issuer, subject }, key),
      endOfGrant: (subject, app) => endpoint().accountSessions.endOfGrant({ issuer, subject }, app),
    },
  };
}
