import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { AuthorizationServerMetadata } from '../../../src/oauth/metadata.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { approve, authorization, redeem, register, type Tokens, tryAccess } from '../../support/oauth.ts';

// Over src/app/app.ts, src/app/paths.ts and src/authorization-server/engine/configuration.ts.

async function read(url: string): Promise<{ response: Response; document: AuthorizationServerMetadata }> {
  const response = await fetch(url, { redirect: 'manual' });
  return { response, document: (await response.json()) as AuthorizationServerMetadata };
}

describe('metadata of a server', () => {
  it.each([
    [true, true],
    [false, undefined],
  ])('that takes documents of clients: %s, says so: %s (A4-07)', async (enabled, said) => {
    const gatehouse = await startGatehouse({ clients: { metadataDocuments: { enabled } } });
    onTestFinished(() => gatehouse.stop());
    for (const name of ['oauth-authorization-server', 'openid-configuration']) {
      const { document } = await read(`${gatehouse.url}/.well-known/${name}`);
      expect(document.client_id_metadata_document_supported).toBe(said);
    }
  });
});

describe.each([
  ['is an origin', ''],
  ['has a path', '/tools'],
  ['has a path of several parts', '/tenants/one'],
])('authorization server metadata, where the public URL %s', (_what, publicPath) => {
  let gatehouse: RunningGatehouse;
  let origin: string;
  beforeAll(async () => {
    gatehouse = await startGatehouse({ publicPath });
    origin = new URL(gatehouse.url).origin;
  });
  afterAll(() => gatehouse.stop());

  /** Path-inserted, appended and root form of both documents. */
  function places(): string[] {
    return ['oauth-authorization-server', 'openid-configuration'].flatMap((name) => [
      `${origin}/.well-known/${name}`,
      `${origin}/.well-known/${name}${publicPath}`,
      `${origin}${publicPath}/.well-known/${name}`,
      `${origin}/.well-known/${name}${publicPath}/mcp`,
      `${origin}${publicPath}/mcp/.well-known/${name}`,
      `${origin}${publicPath}/mcp/.well-known/${name}/`,
      `${origin}/.well-known/${name}/`,
    ]);
  }

  it('is the same at every place where clients look, without a redirect (A4-01, A4-10, A2-03)', async () => {
    const documents = await Promise.all(places().map(read));
    for (const { response, document } of documents) {
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toMatch(/^application\/json/);
      expect(document).toEqual(documents[0]?.document);
    }
  });

  it('names the issuer as it was configured, and what a client needs (A4-09, A4-05, A4-01)', async () => {
    for (const place of places()) {
      const { document } = await read(place);
      expect(document).toMatchObject({
        issuer: gatehouse.url,
        authorization_endpoint: `${gatehouse.url}/authorize`,
        token_endpoint: `${gatehouse.url}/token`,
        registration_endpoint: `${gatehouse.url}/register`,
        revocation_endpoint: `${gatehouse.url}/revoke`,
        jwks_uri: `${gatehouse.url}/jwks`,
        response_types_supported: ['code'],
        response_modes_supported: ['query'],
        pushed_authorization_request_endpoint: `${gatehouse.url}/par`,
        end_session_endpoint: `${gatehouse.url}/session/end`,
        device_authorization_endpoint: `${gatehouse.url}/device/auth`,
        grant_types_supported: [
          'authorization_code',
          'refresh_token',
          'urn:ietf:params:oauth:grant-type:device_code',
        ],
        token_endpoint_auth_methods_supported: [
          'none',
          'client_secret_basic',
          'client_secret_post',
          'private_key_jwt',
        ],
        code_challenge_methods_supported: ['S256'],
        authorization_response_iss_parameter_supported: true,
      });
      expect(document.scopes_supported).toEqual(
        expect.arrayContaining(['openid', 'notes:read', 'notes:write']),
      );
    }
  });

  it('names no URL that is not ours, and none with a query (A4-09)', async () => {
    const { document } = await read(`${origin}/.well-known/oauth-authorization-server${publicPath}`);
    const urls = Object.values(document).filter(
      (value) => typeof value === 'string' && /^https?:/.test(value),
    );
    expect(urls.length).toBeGreaterThanOrEqual(6);
    for (const url of urls) expect(`${url}/`.startsWith(`${gatehouse.url}/`)).toBe(true);
  });

  it('is read by pages of any origin and by HEAD, and nothing else is done with it (A4-01)', async () => {
    for (const place of places()) {
      const read = await fetch(place, { headers: { origin: 'https://app.example.com' } });
      expect(read.headers.get('access-control-allow-origin')).toBe('*');
      expect((await fetch(place, { method: 'HEAD' })).status).toBe(200);
      expect((await fetch(place, { method: 'POST' })).status).toBe(405);
    }
  });

  it('leads to endpoints that work, from registration to a call (A1-04, A4-09)', async () => {
    const { document } = await read(`${origin}/.well-known/oauth-authorization-server${publicPath}`);
    expect(document.registration_endpoint).toBe(`${gatehouse.url}/register`);
    const { client_id: id } = await register(gatehouse.url);
    const flow = authorization(gatehouse, id);
    const callback = await approve(flow);
    expect(callback.searchParams.get('iss')).toBe(document.issuer);
    const response = await redeem(gatehouse.url, flow, callback.searchParams.get('code') ?? '');
    expect(response.status).toBe(200);
    expect(await tryAccess(gatehouse.mcpUrl, ((await response.json()) as Tokens).access_token)).toBe(200);
  });

  it('can be done without: the endpoints of 2025-03-26 stand at the origin, with and without a slash (A2-04, A2-07)', async () => {
    for (const slash of ['', '/']) {
      const registered = await fetch(`${origin}/register${slash}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ redirect_uris: ['http://127.0.0.1:53682/callback'] }),
      });
      expect(registered.status).toBe(201);
      const { client_id: id } = (await registered.json()) as { client_id: string };
      const request = { ...gatehouse, url: origin };
      const flow = authorization(request, id, { resource: undefined, scope: undefined });
      const callback = await approve({
        ...flow,
        url: flow.url.replace('/authorize?', `/authorize${slash}?`),
      });
      const code = callback.searchParams.get('code') ?? '';
      const response = await fetch(`${origin}/token${slash}`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({
          grant_type: 'authorization_code',
          client_id: id,
          redirect_uri: flow.redirectUri,
          code_verifier: flow.verifier,
          code,
        }).toString(),
      });
      expect(response.status).toBe(200);
      const { access_token: token } = (await response.json()) as Tokens;
      expect(await tryAccess(`${origin}/mcp${slash}`, token)).toBe(200);
      const revoked = await fetch(`${origin}/revoke${slash}`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ client_id: id, token }).toString(),
      });
      expect(revoked.status).toBe(200);
      expect(await tryAccess(gatehouse.mcpUrl, token)).toBe(401);
    }
  });

  it('names keys, public parts only (A4-01)', async () => {
    const { document } = await read(`${origin}/.well-known/openid-configuration${publicPath}`);
    const { keys } = (await (await fetch(document.jwks_uri ?? '')).json()) as {
      keys: Record<string, unknown>[];
    };
    expect(keys.length).toBeGreaterThan(0);
    for (const key of keys) {
      expect(key).toMatchObject({ kty: 'EC', crv: 'P-256', use: 'sig', kid: expect.any(String) });
      for (const secret of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k', 'oth'])
        expect(key).not.toHaveProperty(secret);
    }
  });
});
