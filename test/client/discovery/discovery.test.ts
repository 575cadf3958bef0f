import { describe, expect, it } from 'vitest';
import { ClientError, type DiscoveryError, discover } from '../../../src/client/index.ts';
import { testContext } from '../support/context.ts';
import { serverMetadata, startAuthorizationServer, startMcpServer } from '../support/protected-server.ts';
import { type ScriptedServer, startServer } from '../support/scripted-server.ts';

async function failure(work: Promise<unknown>): Promise<DiscoveryError> {
  const error = await work.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ClientError);
  return error as DiscoveryError;
}

/** An origin that asks for a token at `/v1/mcp` and publishes no protected resource metadata. */
async function startOldServer(): Promise<ScriptedServer & { url: string }> {
  const server = await startServer();
  server.routes['POST /v1/mcp'] = { status: 401, text: '' };
  return Object.assign(server, { url: `${server.origin}/v1/mcp` });
}

describe('discovery', () => {
  it('goes from the 401 to the resource metadata of the challenge to the authorization server (A3-04, A4-02)', async () => {
    const as = await startAuthorizationServer();
    const mcp = await startMcpServer(as, { scopes: ['read'] });
    const found = await discover(testContext(), mcp.url);
    expect(found).toMatchObject({
      server: mcp.url,
      resource: mcp.url,
      model: 'protected_resource',
      authorizationServer: { issuer: as.origin, token_endpoint: `${as.origin}/token` },
      protectedResource: { scopes_supported: ['read'] },
    });
    expect(mcp.asked()).toEqual(['POST /mcp', 'GET /.well-known/oauth-protected-resource/mcp']);
    expect(as.asked()).toEqual(['GET /.well-known/oauth-authorization-server']);
    expect(found.trace.map(({ verdict, status }) => [verdict, status])).toEqual([
      ['taken', 401],
      ['taken', 200],
      ['taken', 200],
    ]);
  });

  it('tells whether the server takes only tokens bound to a key, by its metadata or its challenge (A13-09)', async () => {
    const as = await startAuthorizationServer();
    const mcp = await startMcpServer(as);
    expect((await discover(testContext(), mcp.url)).dpopRequired).toBeUndefined();
    const metadata = { resource: mcp.url, authorization_servers: [as.origin] };
    const place = 'GET /.well-known/oauth-protected-resource/mcp';
    mcp.routes[place] = { json: { ...metadata, dpop_bound_access_tokens_required: true } };
    expect((await discover(testContext(), mcp.url)).dpopRequired).toBe(true);
    mcp.routes[place] = { json: metadata };
    mcp.routes['POST /mcp'] = { status: 401, headers: { 'www-authenticate': 'DPoP algs="ES256"' }, text: '' };
    expect((await discover(testContext(), mcp.url)).dpopRequired).toBe(true);
  });

  it('begins with a challenge that came already, and does not ask for another', async () => {
    const as = await startAuthorizationServer({ client_id_metadata_document_supported: true });
    const mcp = await startMcpServer(as);
    const challenge = `Bearer scope="a b", resource_metadata="${mcp.origin}/elsewhere.json"`;
    mcp.routes['GET /elsewhere.json'] = {
      json: { resource: mcp.url, authorization_servers: [as.origin] },
    };
    const found = await discover(testContext(), mcp.url, { challenge });
    expect(found.challengedScopes).toEqual(['a', 'b']);
    expect(found.authorizationServer.client_id_metadata_document_supported).toBe(true);
    expect(mcp.asked()).toEqual(['GET /elsewhere.json']);
    expect(found.trace[0]).toMatchObject({ purpose: 'challenge', method: 'none', verdict: 'taken' });
  });

  it('sends MCP-Protocol-Version with every request and never a token (A2-06)', async () => {
    const as = await startAuthorizationServer();
    const mcp = await startMcpServer(as);
    await discover(testContext(), mcp.url);
    for (const { headers } of [...mcp.requests, ...as.requests]) {
      expect(headers['mcp-protocol-version']).toBe('2025-11-25');
      expect(headers.authorization).toBeUndefined();
    }
  });

  it('falls back to the origin without its path, OAuth metadata first (A2-01, A2-02)', async () => {
    const server = await startOldServer();
    server.routes['GET /.well-known/oauth-authorization-server'] = { json: serverMetadata(server.origin) };
    const found = await discover(testContext(), server.url);
    expect(found.model).toBe('origin_metadata');
    expect(found.resource).toBe(server.url);
    expect(server.asked()).toEqual([
      'POST /v1/mcp',
      'GET /.well-known/oauth-protected-resource/v1/mcp',
      'GET /.well-known/oauth-protected-resource',
      'GET /.well-known/oauth-authorization-server',
    ]);
  });

  it('asks the origin for OpenID metadata, then assumes the default paths, in this order (A2-05, A2-08)', async () => {
    const server = await startOldServer();
    const found = await discover(testContext(), server.url);
    expect(server.asked().slice(3)).toEqual([
      'GET /.well-known/oauth-authorization-server',
      'GET /.well-known/openid-configuration',
    ]);
    expect(found.model).toBe('default_endpoints');
    expect(found.authorizationServer).toMatchObject({
      issuer: server.origin,
      authorization_endpoint: `${server.origin}/authorize`,
      token_endpoint: `${server.origin}/token`,
      registration_endpoint: `${server.origin}/register`,
      code_challenge_methods_supported: ['S256'],
    });
  });

  it('assumes no default endpoints after a server error, and names the place and its status (A2-08, FA-27)', async () => {
    const server = await startOldServer();
    server.routes['GET /.well-known/oauth-authorization-server'] = { status: 503, text: '' };
    const error = await failure(discover(testContext(), server.url));
    expect(error.reason).toBe('server_error');
    expect(error.message).toContain('/.well-known/oauth-authorization-server answered with status 503');
    expect(error.trace.map(({ purpose }) => purpose)).not.toContain('default_endpoints');
    expect(error.trace).toContainEqual(expect.objectContaining({ status: 503, verdict: 'refused' }));
  });

  it('says that a server without a challenge and without metadata needs no login', async () => {
    const server = await startServer({ 'POST /mcp': { json: {} }, 'GET /mcp': { status: 405, text: '' } });
    const error = await failure(discover(testContext(), `${server.origin}/mcp`));
    expect(error.reason).toBe('not_protected');
  });

  it('lets the caller choose among several authorization servers (A3-08)', async () => {
    const [first, second] = [await startAuthorizationServer(), await startAuthorizationServer()];
    const mcp = await startMcpServer(first);
    mcp.routes['GET /.well-known/oauth-protected-resource/mcp'] = {
      json: { resource: mcp.url, authorization_servers: [first.origin, second.origin] },
    };
    const found = await discover(testContext(), mcp.url, { chooseAuthorizationServer: (all) => all[1] });
    expect(found.authorizationServer.issuer).toBe(second.origin);
    expect(first.requests).toEqual([]);
  });

  it('chooses the one that alone may be asked, and no other, wherever it is named (A3-08, T-184)', async () => {
    const [first, second] = [await startAuthorizationServer(), await startAuthorizationServer()];
    const mcp = await startMcpServer(first);
    const named = [first.origin, second.origin];
    const place = 'GET /.well-known/oauth-protected-resource/mcp';
    mcp.routes[place] = { json: { resource: mcp.url, authorization_servers: named } };
    const found = await discover(testContext(), mcp.url, { issuer: second.origin });
    expect(found.authorizationServer.issuer).toBe(second.origin);
    expect(first.requests).toEqual([]);
    mcp.routes[place] = { json: { resource: mcp.url, authorization_servers: [first.origin] } };
    const error = await failure(discover(testContext(), mcp.url, { issuer: second.origin }));
    expect(error).toMatchObject({ name: 'DiscoveryError', reason: 'authorization_server_changed' });

    const old = await startOldServer();
    const metadata = serverMetadata(old.origin);
    old.routes['GET /.well-known/oauth-authorization-server'] = { json: metadata };
    const atOrigin = failure(discover(testContext(), old.url, { issuer: second.origin }));
    expect((await atOrigin).reason).toBe('authorization_server_changed');
    expect((await discover(testContext(), old.url, { issuer: old.origin })).model).toBe('origin_metadata');
  });

  it.each(['javascript:alert(1)', 'file:///etc/passwd', 'http://mcp.example.com/mcp', 'nonsense'])(
    'refuses %s as the URL of a server without sending anything (T-182)',
    async (url) => {
      const fetch = () => Promise.reject(new Error('sent'));
      const error = await failure(discover({ ...testContext(), fetch }, url));
      expect(error.reason).toBe('bad_url');
    },
  );

  it('allows http elsewhere than on loopback only where the caller says so', async () => {
    const seen: string[] = [];
    const fetch = async (url: string | URL): Promise<Response> => {
      seen.push(String(url));
      return new Response('', { status: 404 });
    };
    const context = { ...testContext(), fetch, dangerouslyAllowHttp: true };
    const error = await failure(discover(context, 'http://mcp.example.com/mcp'));
    expect(error.reason).toBe('not_protected');
    expect(seen[0]).toBe('http://mcp.example.com/mcp');
  });
});
