import { randomUUID } from 'node:crypto';
import type { Reply, Route, Seen } from './http.ts';
import type { TestServer } from './server.ts';
import type { Bearer, Tokens } from './tokens.ts';

/** The tools of the server; `write_note` needs `notes:write`. */
const tools = ['read_notes', 'write_note'].map((name) => ({ name, inputSchema: { type: 'object' } }));

interface Message {
  id?: string | number;
  method?: string;
  params?: { name?: string };
}

/**
 * Routes of an MCP endpoint that speaks both eras behind bearer tokens, and of its protected resource metadata.
 * @param server whose rules count at each request
 * @param tokens those that open it
 */
export function mcpRoutes(server: TestServer, tokens: Tokens): Record<string, Route> {
  const { rules } = server;
  const sessions = new Set<string>();
  const metadataUrl = `${server.origin}/.well-known/oauth-protected-resource/mcp`;

  const challenge = (status: number, error?: string, scope = 'notes:read'): Reply => ({
    status,
    headers: {
      'cache-control': 'no-store',
      'www-authenticate': [
        'Bearer ',
        ...(error === undefined ? [] : [`error="${error}", `]),
        `scope="${scope}", resource_metadata="${metadataUrl}"`,
      ].join(''),
    },
    json: { error: error ?? 'unauthorized' },
  });

  const guarded =
    (route: (seen: Seen, bearer: Bearer) => Reply): Route =>
    (seen) => {
      const sent = /^Bearer (.+)$/i.exec(seen.headers.authorization ?? '')?.[1];
      if (sent === undefined) return challenge(401);
      const bearer = tokens.verify(sent);
      return bearer ? route(seen, bearer) : challenge(401, 'invalid_token');
    };

  const post = (seen: Seen, bearer: Bearer): Reply => {
    const { id, method, params } = JSON.parse(seen.body) as Message;
    const session = seen.headers['mcp-session-id'];
    if (session !== undefined && !sessions.has(String(session)))
      return {
        status: rules.staleSessionStatus,
        json: { jsonrpc: '2.0', id: null, error: { code: -32001, message: 'No such session' } },
      };
    if (id === undefined) return { status: 202 };
    const result = (value: object, headers: Record<string, string> = {}): Reply => ({
      headers,
      json: { jsonrpc: '2.0', id, result: { resultType: 'complete', ...value } },
    });
    const serverInfo = { name: 'sound', version: '1' };
    switch (method) {
      case 'initialize': {
        const started = randomUUID();
        sessions.add(started);
        return result(
          { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo },
          { 'mcp-session-id': started },
        );
      }
      case 'server/discover':
        return result({
          supportedVersions: ['2026-07-28'],
          capabilities: { tools: {} },
          serverInfo,
          ttlMs: 0,
          cacheScope: 'private',
        });
      case 'ping':
        return result({});
      case 'tools/list':
        return result({ tools, ttlMs: 0, cacheScope: 'private' });
      case 'tools/call':
        if (params?.name === 'write_note' && !bearer.scopes.includes('notes:write'))
          return challenge(rules.insufficientScopeStatus, 'insufficient_scope', 'notes:write');
        return result({ content: [{ type: 'text', text: 'done' }] });
      default:
        return { json: { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } } };
    }
  };

  const metadata: Route = () => ({
    json: {
      resource: server.url,
      authorization_servers: [server.issuer],
      scopes_supported: ['notes:read', 'notes:write'],
      bearer_methods_supported: ['header'],
    },
  });

  return {
    'POST /mcp': guarded(post),
    'GET /mcp': guarded(() => ({ status: 405, headers: { allow: 'POST, DELETE' } })),
    'DELETE /mcp': guarded(({ headers }) => {
      return { status: sessions.delete(String(headers['mcp-session-id'])) ? 204 : rules.staleSessionStatus };
    }),
    'GET /.well-known/oauth-protected-resource/mcp': metadata,
    'GET /.well-known/oauth-protected-resource': metadata,
  };
}
