import { createHash, randomUUID } from 'node:crypto';
import { type Answer, type ScriptedServer, type SeenRequest, startServer } from './scripted-server.ts';

/** Authorization server metadata of a scripted server, with overrides. */
export function serverMetadata(
  issuer: string,
  overrides: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    revocation_endpoint: `${issuer}/revoke`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
    authorization_response_iss_parameter_supported: true,
    ...overrides,
  };
}

/** A scripted authorization server that really checks PKCE, redirect URI, resource and single use. */
export interface ScriptedAuthorizationServer extends ScriptedServer {
  /** Scopes granted with each code or refresh token; what was asked for unless set. */
  grantedScope: string | undefined;
  expiresInSeconds: number;
  issuesRefreshTokens: boolean;
  /** Access tokens that are alive. */
  accessTokens: Set<string>;
  refreshTokens: Set<string>;
}

function oauthError(error: string, status = 400): Answer {
  return { status, json: { error, error_description: 'as the script says' } };
}

/** Starts an authorization server whose issuer is its origin. */
export async function startAuthorizationServer(
  overrides: Record<string, unknown> = {},
): Promise<ScriptedAuthorizationServer> {
  const codes = new Map<string, URLSearchParams>();
  const server = await startServer();
  const as: ScriptedAuthorizationServer = Object.assign(server, {
    grantedScope: undefined,
    expiresInSeconds: 3600,
    issuesRefreshTokens: true,
    accessTokens: new Set<string>(),
    refreshTokens: new Set<string>(),
  });

  const issue = (scope: string | undefined): Answer => {
    const accessToken = `at-${randomUUID()}`;
    as.accessTokens.add(accessToken);
    const refreshToken = `rt-${randomUUID()}`;
    if (as.issuesRefreshTokens) as.refreshTokens.add(refreshToken);
    return {
      headers: { 'cache-control': 'no-store' },
      json: {
        access_token: accessToken,
        token_type: 'Bearer',
        expires_in: as.expiresInSeconds,
        ...(as.issuesRefreshTokens ? { refresh_token: refreshToken } : {}),
        ...(scope === undefined ? {} : { scope }),
      },
    };
  };

  const token = ({ body }: SeenRequest): Answer => {
    const form = new URLSearchParams(body);
    if (form.get('grant_type') === 'refresh_token') {
      const refreshToken = form.get('refresh_token') ?? '';
      if (!as.refreshTokens.delete(refreshToken)) return oauthError('invalid_grant');
      return issue(as.grantedScope);
    }
    const asked = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    if (!asked) return oauthError('invalid_grant');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const same = (name: string): boolean => asked.get(name) === form.get(name);
    if (challenge !== asked.get('code_challenge') || !same('redirect_uri') || !same('resource'))
      return oauthError('invalid_grant');
    return issue(as.grantedScope ?? asked.get('scope') ?? undefined);
  };

  as.routes = {
    'GET /.well-known/oauth-authorization-server': { json: serverMetadata(as.origin, overrides) },
    'POST /register': ({ body }) => ({
      status: 201,
      json: { client_id: `client-${randomUUID()}`, ...(JSON.parse(body) as Record<string, unknown>) },
    }),
    'GET /authorize': ({ query }) => {
      const code = `code-${randomUUID()}`;
      codes.set(code, query);
      const back = new URL(query.get('redirect_uri') ?? '');
      back.searchParams.set('code', code);
      back.searchParams.set('state', query.get('state') ?? '');
      back.searchParams.set('iss', as.origin);
      return { status: 302, headers: { location: back.href }, text: '' };
    },
    'POST /token': token,
    'POST /revoke': ({ body }) => {
      as.refreshTokens.delete(new URLSearchParams(body).get('token') ?? '');
      return { status: 200, text: '' };
    },
  };
  return as;
}

/** Starts an MCP server at `/mcp` that names the authorization server and takes its tokens. */
export async function startMcpServer(
  as: ScriptedAuthorizationServer,
  options: {
    scopes?: string[];
    call?: (params: Record<string, unknown>) => unknown;
    tools?: unknown[];
    /** The `_meta` of the list of tools. */
    listMeta?: Record<string, unknown>;
  } = {},
): Promise<ScriptedServer & { url: string; needsScope: string | undefined }> {
  const server = await startServer();
  const url = `${server.origin}/mcp`;
  const metadataUrl = `${server.origin}/.well-known/oauth-protected-resource/mcp`;
  const mcp = Object.assign(server, { url, needsScope: undefined as string | undefined });
  const bearer = (request: SeenRequest): Answer | undefined => {
    const sent = /^(?:Bearer|DPoP) (.+)$/.exec(String(request.headers.authorization ?? ''))?.[1];
    const error = sent === undefined ? '' : 'error="invalid_token", ';
    if (sent === undefined || !as.accessTokens.has(sent))
      return {
        status: 401,
        headers: { 'www-authenticate': `Bearer ${error}resource_metadata="${metadataUrl}"` },
        json: {},
      };
    return undefined;
  };
  mcp.routes = {
    'GET /.well-known/oauth-protected-resource/mcp': {
      json: {
        resource: url,
        authorization_servers: [as.origin],
        ...(options.scopes === undefined ? {} : { scopes_supported: options.scopes }),
      },
    },
    'GET /mcp': (request) => bearer(request) ?? { status: 405, text: '' },
    'DELETE /mcp': (request) => bearer(request) ?? { status: 405, text: '' },
    'POST /mcp': (request) => {
      const refused = bearer(request);
      if (refused) return refused;
      const message = JSON.parse(request.body) as {
        id?: unknown;
        method: string;
        params?: Record<string, unknown>;
      };
      if (message.id === undefined) return { status: 202, text: '' };
      const result = (value: unknown): Answer => ({
        json: { jsonrpc: '2.0', id: message.id, result: value },
      });
      if (message.method === 'initialize')
        return result({
          protocolVersion: '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: 'scripted', version: '1' },
        });
      if (message.method === 'tools/list')
        return result({ tools: options.tools ?? [], ...(options.listMeta && { _meta: options.listMeta }) });
      if (message.method === 'tools/call' && mcp.needsScope !== undefined)
        return {
          status: 403,
          headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${mcp.needsScope}"` },
          json: {},
        };
      if (message.method === 'tools/call' && options.call) return result(options.call(message.params ?? {}));
      return {
        json: { jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'Method not found' } },
      };
    },
  };
  return mcp;
}
