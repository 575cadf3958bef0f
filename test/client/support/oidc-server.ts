import { createServer } from 'node:http';
import { type Configuration, type JWK, Provider } from 'oidc-provider';
import { onTestFinished } from 'vitest';
import type { ClientContext } from '../../../src/client/index.ts';
import { checkProof, sha256 } from './proofs.ts';
import { type Answer, type ScriptedServer, type SeenRequest, startServer } from './scripted-server.ts';

/** A context of the time it is: a real authorization server keeps that. */
export function realContext(): ClientContext {
  return { fetch: globalThis.fetch, now: () => Math.floor(Date.now() / 1000), timeoutMs: 5_000 };
}

/** Secret of the client `robot`. */
export const robotSecret = 'robot-secret_with:signs/and=more';

/** An authorization server that is oidc-provider, in front of an MCP server that takes its tokens only. */
export interface OidcServer {
  issuer: string;
  /** URL of the MCP server. */
  url: string;
  mcp: ScriptedServer;
  provider: Provider;
  /** Requests at the token endpoint, as forms with their headers. */
  tokenRequests: { form: URLSearchParams; headers: Record<string, string | string[] | undefined> }[];
  /** Does what the user does who enters a code, as far as the server gets to know of it. */
  enterCode(userCode: string, choice: 'allow' | 'deny'): Promise<void>;
}

/**
 * Starts both.
 * @param options `robotKeys`: public keys of the client `robot-jwt`; `dpop`: whether the MCP server takes only tokens
 *   that are bound to a key, `nonces`: whether both servers want nonces
 */
export async function startOidcServer(
  options: { robotKeys?: JWK[]; dpop?: boolean; nonces?: boolean; accessTokenSeconds?: number } = {},
): Promise<OidcServer> {
  const { robotKeys = [], dpop = false, nonces = false, accessTokenSeconds = 600 } = options;
  const mcp = await startServer();
  const url = `${mcp.origin}/mcp`;
  const tokenRequests: OidcServer['tokenRequests'] = [];
  let handle: ReturnType<Provider['callback']> | undefined;
  const listener = createServer((request, response) => {
    if (request.url === '/token') {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () =>
        tokenRequests.push({
          form: new URLSearchParams(Buffer.concat(chunks).toString()),
          headers: request.headers,
        }),
      );
    }
    void handle?.(request, response);
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    listener.closeAllConnections();
    await new Promise((resolve) => listener.close(resolve));
  });
  const address = listener.address();
  if (typeof address !== 'object' || address === null) throw new Error('no address');
  const issuer = `http://127.0.0.1:${address.port}`;
  const alone = { redirect_uris: [], response_types: [] as never[] };
  const config: Configuration = {
    clients: [
      { ...alone, client_id: 'robot', client_secret: robotSecret, grant_types: ['client_credentials'] },
      {
        ...alone,
        client_id: 'robot-jwt',
        grant_types: ['client_credentials'],
        token_endpoint_auth_method: 'private_key_jwt',
        jwks: { keys: robotKeys },
      },
    ],
    scopes: ['openid', 'offline_access', 'read', 'write'],
    cookies: { keys: ['of-this-test'] },
    ttl: {
      AccessToken: accessTokenSeconds,
      ClientCredentials: accessTokenSeconds,
      DeviceCode: 60,
      Grant: 3600,
      RefreshToken: 3600,
    },
    findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    issueRefreshToken: (_, client) => client.grantTypeAllowed('refresh_token'),
    expiresWithSession: () => false,
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      clientCredentials: { enabled: true },
      deviceFlow: { enabled: true },
      dPoP: {
        enabled: true,
        ...(nonces ? { nonceSecret: Buffer.alloc(32, 7), requireNonce: () => true } : {}),
      },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          scope: 'read write',
          audience: url,
          accessTokenTTL: accessTokenSeconds,
          accessTokenFormat: 'jwt',
        }),
      },
    },
  };
  const provider = new Provider(issuer, config);
  handle = provider.callback();
  mcp.routes = protectedRoutes({ mcp, issuer, url, dpop, nonces });
  return {
    issuer,
    url,
    mcp,
    provider,
    tokenRequests,
    enterCode: (...call) => enterCode(provider, url, ...call),
  };
}

async function enterCode(
  provider: Provider,
  resource: string,
  userCode: string,
  choice: 'allow' | 'deny',
): Promise<void> {
  const code = await provider.DeviceCode.findByUserCode(userCode.replace(/[^A-Z0-9]/g, ''));
  if (code === undefined) throw new Error(`no code ${userCode}`);
  if (choice === 'deny') Object.assign(code, { error: 'access_denied' });
  else {
    const grant = new provider.Grant({ accountId: 'ann', clientId: String(code.clientId) });
    grant.addResourceScope(resource, 'read write');
    grant.addOIDCScope('offline_access');
    const authTime = Math.floor(Date.now() / 1000);
    const scope = String(code.params?.scope ?? '');
    Object.assign(code, { accountId: 'ann', grantId: await grant.save(), scope, resource, authTime });
  }
  await code.save();
}

function protectedRoutes(server: {
  mcp: ScriptedServer;
  issuer: string;
  url: string;
  dpop: boolean;
  nonces: boolean;
}): ScriptedServer['routes'] {
  const { mcp, issuer, url, dpop, nonces } = server;
  const metadata = '/.well-known/oauth-protected-resource/mcp';
  const scheme = dpop ? 'DPoP' : 'Bearer';
  const refuse = (error?: string, headers = {}): Answer => ({
    status: 401,
    headers: {
      'www-authenticate': `${scheme} resource_metadata="${mcp.origin}${metadata}"${error === undefined ? '' : `, error="${error}"`}`,
      ...headers,
    },
    json: {},
  });
  const answer = (request: SeenRequest): Answer => {
    const [sent, token = ''] = String(request.headers.authorization ?? '').split(' ');
    if (sent !== scheme) return refuse();
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    if (claims.aud !== url || claims.iss !== issuer) return refuse('invalid_token');
    if (!dpop) return { json: { client: claims.client_id, sub: claims.sub, scope: claims.scope } };
    const proof = checkProof(request, mcp.origin, Math.floor(Date.now() / 1000));
    if (proof.jkt !== claims.cnf?.jkt || proof.ath !== sha256(token)) return refuse('invalid_token');
    if (nonces && proof.nonce !== 'of-the-mcp-server')
      return refuse('use_dpop_nonce', { 'dpop-nonce': 'of-the-mcp-server' });
    return { json: { client: claims.client_id, sub: claims.sub, scope: claims.scope } };
  };
  const document = { resource: url, authorization_servers: [issuer], scopes_supported: ['read'] };
  return { [`GET ${metadata}`]: { json: document }, 'POST /mcp': answer, 'GET /mcp': answer };
}
