// oidc-provider as it comes, with its own development pages, registration, introspection and resource indicators
// switched on; the MCP server asks it about every token.
import { errors, Provider } from 'oidc-provider';
import { listen, port } from './listen.ts';
import { serveMcp } from './mcp-server.ts';

const issuer = `http://127.0.0.1:${process.env.ISSUER_PORT}`;
const origin = `http://127.0.0.1:${port}`;
const resource = `${origin}/mcp`;
const scope = 'mcp:tools';
const introspection = { client_id: 'resource-server', client_secret: 'known-to-everybody' };
const provider = new Provider(issuer, {
  clients: [{ ...introspection, redirect_uris: [], response_types: [], grant_types: [] }],
  scopes: ['openid', 'offline_access', scope],
  features: {
    registration: { enabled: true },
    introspection: { enabled: true },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo(_, indicator) {
        if (indicator !== resource) throw new errors.InvalidTarget();
        return { scope, audience: resource, accessTokenFormat: 'opaque' };
      },
    },
  },
});
provider.listen(Number(process.env.ISSUER_PORT), '127.0.0.1');

const metadataPath = '/.well-known/oauth-protected-resource/mcp';

function challenge(error = ''): Response {
  const authenticate = `Bearer resource_metadata="${origin}${metadataPath}"${error}`;
  return Response.json({}, { status: 401, headers: { 'www-authenticate': authenticate } });
}

async function isGood(token: string): Promise<boolean> {
  const { client_id: id, client_secret: secret } = introspection;
  const answer = await fetch(`${issuer}/token/introspection`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${id}:${secret}`)}` },
    body: new URLSearchParams({ token }),
  });
  const { active, aud } = (await answer.json()) as { active: boolean; aud?: string };
  return active && aud === resource;
}

listen(origin, async (request) => {
  const { pathname } = new URL(request.url);
  if (pathname === metadataPath)
    return Response.json({ resource, authorization_servers: [issuer], scopes_supported: [scope] });
  if (pathname !== '/mcp') return new Response('Not found', { status: 404 });
  const token = /^Bearer (.+)$/i.exec(request.headers.get('authorization') ?? '')?.[1];
  if (token === undefined) return challenge();
  return (await isGood(token)) ? serveMcp(request) : challenge(', error="invalid_token"');
});
