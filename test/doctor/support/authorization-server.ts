import { createHash, randomUUID } from 'node:crypto';
import type { Reply, Route, Seen } from './http.ts';
import type { TestServer } from './server.ts';
import { createTokens, type Grant, type Tokens } from './tokens.ts';

/** A client as it registered. */
interface Client {
  client_id: string;
  client_secret?: string;
  redirect_uris: string[];
  token_endpoint_auth_method: string;
  registration_access_token: string;
}

function oauthError(error: string, status = 400): Reply {
  return {
    status,
    headers: { 'cache-control': 'no-store' },
    json: { error, error_description: `it is ${error}` },
  };
}

function isLoopback(url: URL): boolean {
  return ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname);
}

function withoutLoopbackPort(uri: string): string {
  const url = URL.parse(uri);
  if (!url || !isLoopback(url) || url.protocol !== 'http:') return uri;
  url.port = '';
  return url.href;
}

/** The metadata that a sound authorization server publishes. */
function metadata({ issuer, origin }: TestServer): Record<string, unknown> {
  return {
    issuer,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    revocation_endpoint: `${origin}/revoke`,
    jwks_uri: `${origin}/jwks`,
    scopes_supported: ['notes:read', 'notes:write'],
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
    authorization_response_iss_parameter_supported: true,
  };
}

/**
 * Routes of an authorization server with dynamic registration, a consent that is given at once, PKCE, rotation, reuse
 * detection and revocation.
 * @param server whose rules count at each request
 */
export function authorizationServerRoutes(server: TestServer): {
  routes: Record<string, Route>;
  tokens: Tokens;
} {
  const clients = new Map<string, Client>();
  const codes = new Map<string, { query: URLSearchParams; usedBy?: Grant }>();
  const tokens = createTokens(server);
  const { rules } = server;

  const register = ({ body }: Seen): Reply => {
    const asked = JSON.parse(body) as { redirect_uris?: string[]; token_endpoint_auth_method?: string };
    const redirectUris = asked.redirect_uris ?? [];
    const bad = (uri: string): boolean => {
      const url = URL.parse(uri);
      return !url || (rules.refusesPlainHttpRedirects && url.protocol === 'http:' && !isLoopback(url));
    };
    if (redirectUris.length === 0 || redirectUris.some(bad)) return oauthError('invalid_redirect_uri');
    const method = asked.token_endpoint_auth_method ?? 'client_secret_basic';
    const client: Client = {
      client_id: `client-${randomUUID()}`,
      ...(method === 'none' ? {} : { client_secret: randomUUID(), client_secret_expires_at: 0 }),
      redirect_uris: redirectUris,
      token_endpoint_auth_method: method,
      registration_access_token: randomUUID(),
    };
    clients.set(client.client_id, client);
    const json = {
      ...asked,
      ...client,
      registration_client_uri: `${server.origin}/register/${client.client_id}`,
    };
    return { status: 201, headers: { 'cache-control': 'no-store' }, json };
  };

  const unregister = ({ path, headers }: Seen): Reply => {
    const client = clients.get(path.split('/').at(-1) ?? '');
    if (!client || headers.authorization !== `Bearer ${client.registration_access_token}`)
      return { status: 401 };
    clients.delete(client.client_id);
    return { status: 204 };
  };

  const authorize = ({ query }: Seen): Reply => {
    const client = clients.get(query.get('client_id') ?? '');
    const redirectUri = query.get('redirect_uri') ?? '';
    const page = (text: string): Reply => ({ status: 400, headers: { 'content-type': 'text/html' }, text });
    if (!client) return page('<h1>No such client</h1>');
    const plain = rules.anyLoopbackPort ? withoutLoopbackPort : (uri: string) => uri;
    const registered = client.redirect_uris.some((uri) => plain(uri) === plain(redirectUri));
    if ((rules.checksRedirectUri && !registered) || !URL.canParse(redirectUri))
      return page('<h1>This address is not registered</h1>');
    const back = (members: Record<string, string>): Reply => {
      const url = new URL(redirectUri);
      for (const [name, value] of Object.entries(members)) url.searchParams.set(name, value);
      if (rules.returnsState) url.searchParams.set('state', query.get('state') ?? '');
      const iss = rules.issOfResponse(server.issuer);
      if (iss !== null) url.searchParams.set('iss', iss);
      return { status: 302, headers: { location: url.href } };
    };
    if (query.get('response_type') !== 'code') return back({ error: 'unsupported_response_type' });
    const method = query.get('code_challenge_method') ?? (query.has('code_challenge') ? 'plain' : undefined);
    if (rules.requiresPkce && method === undefined) return back({ error: 'invalid_request' });
    if (method === 'plain' && !rules.acceptsPlainPkce) return back({ error: 'invalid_request' });
    if (rules.checksResource && query.has('resource') && query.get('resource') !== server.url)
      return back({ error: 'invalid_target' });
    const code = `code-${randomUUID()}`;
    codes.set(code, { query });
    return back({ code });
  };

  const redeem = async (form: URLSearchParams, client: Client): Promise<Reply> => {
    const held = codes.get(form.get('code') ?? '');
    if (!held || held.query.get('client_id') !== client.client_id) return oauthError('invalid_grant');
    if (held.usedBy && rules.codesAreSingleUse) {
      if (rules.codeReuseRevokes) tokens.endGrant(held.usedBy);
      return oauthError('invalid_grant');
    }
    const { query } = held;
    const verifier = form.get('code_verifier') ?? '';
    const challenge = query.get('code_challenge');
    const right =
      challenge === null ||
      (query.get('code_challenge_method') === 'S256'
        ? createHash('sha256').update(verifier).digest('base64url') === challenge
        : verifier === challenge);
    if (rules.checksVerifier && !right) return oauthError('invalid_grant');
    if (form.get('redirect_uri') !== query.get('redirect_uri')) return oauthError('invalid_grant');
    const scopes = rules.grantedScopes((query.get('scope') ?? 'notes:read').split(' '));
    const grant = tokens.newGrant({
      clientId: client.client_id,
      scopes,
      resource: query.get('resource') ?? server.url,
    });
    held.usedBy = grant;
    return tokens.answer(grant);
  };

  const token = async ({ body, headers }: Seen): Promise<Reply> => {
    const form = new URLSearchParams(body);
    const basic = /^Basic (.+)$/.exec(headers.authorization ?? '')?.[1];
    const [basicId, basicSecret] = basic ? atob(basic).split(':').map(decodeURIComponent) : [];
    const client = clients.get(basicId ?? form.get('client_id') ?? '');
    const secret = basicSecret ?? form.get('client_secret') ?? undefined;
    if (!client || client.client_secret !== secret) return oauthError('invalid_client', 401);
    if (form.get('grant_type') === 'authorization_code') return redeem(form, client);
    if (form.get('grant_type') !== 'refresh_token') return oauthError('unsupported_grant_type');
    return (
      (await tokens.refresh(form.get('refresh_token') ?? '', client.client_id)) ?? oauthError('invalid_grant')
    );
  };

  const revoke = ({ body }: Seen): Reply => {
    tokens.revoke(new URLSearchParams(body).get('token') ?? '');
    return { status: 200 };
  };

  const document: Route = () => ({ json: metadata(server) });
  const path = new URL(server.issuer).pathname.replace(/\/$/, '');
  return {
    tokens,
    routes: {
      [`GET /.well-known/oauth-authorization-server${path}`]: document,
      [`GET /.well-known/openid-configuration${path}`]: document,
      ...(path === '' ? {} : { [`GET ${path}/.well-known/openid-configuration`]: document }),
      'GET /jwks': () => ({ json: { keys: [server.key.publicJwk] } }),
      'POST /register': register,
      'DELETE /register/*': unregister,
      'GET /authorize': authorize,
      'POST /token': token,
      'POST /revoke': revoke,
    },
  };
}
