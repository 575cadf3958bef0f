import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { approve, authorization, obtainTokens, openConsent, redeem, register } from '../../support/oauth.ts';
import { createVisitor } from '../../support/visitor.ts';

const redirectUris = ['http://127.0.0.1:53682/callback'];

let gatehouse: RunningGatehouse;
let bait: Server;
let baitUrl: string;
const caught: string[] = [];
beforeAll(async () => {
  gatehouse = await startGatehouse();
  bait = createServer((request, response) => {
    caught.push(request.url ?? '');
    response.end('{}');
  });
  await new Promise<void>((resolve) => bait.listen(0, '127.0.0.1', resolve));
  baitUrl = `http://127.0.0.1:${(bait.address() as AddressInfo).port}`;
});
afterAll(async () => {
  bait.close();
  await gatehouse.stop();
});

function post(metadata: unknown): Promise<Response> {
  return fetch(`${gatehouse.url}/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof metadata === 'string' ? metadata : JSON.stringify(metadata),
  });
}

describe('a registration', () => {
  it('as MCP clients send it gives a public client that may refresh (A5-02, A1-04, A1-05)', async () => {
    const response = await post({
      client_name: 'A client',
      redirect_uris: redirectUris,
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      scope: 'notes:read',
      client_uri: 'https://app.example.com',
      software_id: 'app',
      software_version: '1.0',
    });
    expect(response.status).toBe(201);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const client = await response.json();
    expect(client).toMatchObject({
      client_id: expect.stringMatching(/^[\w-]{20,}$/),
      client_id_issued_at: expect.any(Number),
      client_name: 'A client',
      redirect_uris: redirectUris,
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    });
    expect(client).not.toHaveProperty('client_secret');
    expect(client).toMatchObject({
      registration_access_token: expect.stringMatching(/^[\w-]{43,}$/),
      registration_client_uri: `${gatehouse.url}/register/${(client as { client_id: string }).client_id}`,
    });
  });

  it('of redirect URIs alone is enough (A5-02)', async () => {
    const response = await post({ redirect_uris: redirectUris });
    expect([response.status, await response.json()]).toMatchObject([
      201,
      { token_endpoint_auth_method: 'none', grant_types: ['authorization_code', 'refresh_token'] },
    ]);
  });

  it('may leave optional members null or empty (A5-02)', async () => {
    const empty = ['', null];
    for (const value of empty) {
      const response = await post({
        redirect_uris: redirectUris,
        client_name: value,
        client_uri: value,
        contacts: value,
        tos_uri: value,
        policy_uri: value,
        software_id: value,
        software_version: value,
        application_type: value,
        grant_types: value,
        response_types: value,
        token_endpoint_auth_method: value,
        scope: value,
        logo_uri: value,
      });
      expect([response.status, await response.json()]).toMatchObject([
        201,
        { token_endpoint_auth_method: 'none', response_types: ['code'] },
      ]);
    }
  });

  it('that prefers a method we do not have but can do without is a public client, as ChatGPT is (A5-02)', async () => {
    const response = await post({
      redirect_uris: ['https://chatgpt.com/connector_platform_oauth_redirect'],
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
    });
    expect([response.status, await response.json()]).toMatchObject([
      201,
      { token_endpoint_auth_method: 'none' },
    ]);
  });

  it('whose only method we do not have is told which ones we have (A5-02)', async () => {
    for (const method of ['tls_client_auth', 'client_secret_jwt']) {
      const response = await post({ redirect_uris: redirectUris, token_endpoint_auth_method: method });
      expect([response.status, await response.json()]).toEqual([
        400,
        {
          error: 'invalid_client_metadata',
          error_description:
            'token_endpoint_auth_method must be one of none, client_secret_basic, client_secret_post, private_key_jwt',
        },
      ]);
    }
  });

  it.each(['client_secret_basic', 'client_secret_post'])(
    'with %s gives a secret once, and keeps it sealed (A5-02, A1-04)',
    async (method) => {
      const client = await register(gatehouse.url, { token_endpoint_auth_method: method });
      expect(client).toMatchObject({ token_endpoint_auth_method: method, client_secret_expires_at: 0 });
      expect(String(client.client_secret).length).toBeGreaterThanOrEqual(43);
      expect(gatehouse.log.join('')).not.toContain(String(client.client_secret));
      const row = await gatehouse.storage.clients.find(client.client_id);
      expect(Buffer.from(row?.payload ?? []).toString('latin1')).not.toContain(String(client.client_secret));
    },
  );

  it('gives a client that gets tokens with its consent (A5-02)', async () => {
    const { client_id: id } = await register(gatehouse.url);
    expect((await obtainTokens(gatehouse, { clientId: id })).tokens.token_type).toBe('Bearer');
  });

  it('never gains what only an operator may give: such members are dropped (T-063)', async () => {
    const body = `{"__proto__":{"trusted":true},"constructor":{"prototype":{"trusted":true}},${JSON.stringify(
      {
        redirect_uris: redirectUris,
        client_id: 'chosen-by-the-client',
        id: 'chosen-by-the-client',
        client_secret: 'chosen-by-the-client',
        client_id_issued_at: 1,
        trusted: true,
        skip_consent: true,
        first_party: true,
        is_admin: true,
        scope: 'admin notes:admin',
        default_acr_values: ['admin'],
        default_max_age: 99_999_999,
        require_auth_time: false,
        subject_type: 'pairwise',
        initiate_login_uri: 'https://evil.example',
        id_token_signed_response_alg: 'none',
        token_endpoint_auth_signing_alg: 'none',
        require_pushed_authorization_requests: false,
        dpop_bound_access_tokens: false,
      },
    ).slice(1)}`;
    const response = await post(body);
    expect(response.status).toBe(201);
    const client = (await response.json()) as Record<string, unknown> & { client_id: string };
    expect(JSON.stringify(client)).not.toMatch(
      /chosen-by-the-client|admin|evil\.example|trusted|skip|first_party/,
    );
    expect(client.id_token_signed_response_alg).toBe('ES256');
    expect(client.client_id_issued_at).not.toBe(1);
    expect(({} as Record<string, unknown>).trusted).toBeUndefined();
    const { html } = await openConsent(authorization(gatehouse, client.client_id), createVisitor());
    expect(html).toContain('value="allow"');
    expect(html).toContain('Not checked');
  });

  it('cannot have other grants: they are left out, and unsupported at the token endpoint (T-063, A1-05)', async () => {
    const client = await register(gatehouse.url, {
      grant_types: [
        'client_credentials',
        'implicit',
        'password',
        'urn:ietf:params:oauth:grant-type:jwt-bearer',
      ],
      response_types: ['token', 'id_token'],
      token_endpoint_auth_method: 'client_secret_post',
    });
    expect(client).toMatchObject({ grant_types: ['authorization_code'], response_types: ['code'] });
    const response = await fetch(`${gatehouse.url}/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: client.client_id,
        client_secret: String(client.client_secret),
        scope: 'notes:read',
      }).toString(),
    });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: 'unsupported_grant_type' },
    ]);
  });

  it('without the refresh grant gets no refresh token', async () => {
    const { client_id: id } = await register(gatehouse.url, { grant_types: ['authorization_code'] });
    const flow = authorization(gatehouse, id);
    const code = (await approve(flow)).searchParams.get('code') ?? '';
    expect(await (await redeem(gatehouse.url, flow, code)).json()).not.toHaveProperty('refresh_token');
  });

  it.each([
    ['an authentication method we do not have', { token_endpoint_auth_method: 'client_secret_jwt' }],
    ['a key it does not show', { token_endpoint_auth_method: 'private_key_jwt' }],
    [
      'a private key',
      { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [{ kty: 'oct', k: 'k' }] } },
    ],
    ['an authentication method nobody has', { token_endpoint_auth_method: 'trust_me' }],
    ['an authentication method of another type', { token_endpoint_auth_method: ['none'] }],
    ['grant types that are no array', { grant_types: 'authorization_code' }],
    ['contacts of another type', { contacts: [1, {}] }],
    ['a home page that runs', { client_uri: 'javascript:alert(1)' }],
    ['terms that run', { tos_uri: 'javascript:alert(1)' }],
    ['a name of another type', { client_name: { toString: 1 } }],
    ['a name of 10 KB', { client_name: 'x'.repeat(10_240) }],
  ])('with %s is invalid_client_metadata (T-063, T-060)', async (_what, metadata) => {
    const response = await post({ redirect_uris: redirectUris, ...metadata });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: 'invalid_client_metadata' },
    ]);
  });

  it('makes the server fetch nothing, and its logo is not loaded by the page either (T-056)', async () => {
    const { client_id: id, ...rest } = await register(gatehouse.url, {
      logo_uri: `${baitUrl}/logo.png`,
      jwks_uri: `${baitUrl}/jwks`,
      sector_identifier_uri: `${baitUrl}/sector`,
      client_uri: `${baitUrl}/home`,
      policy_uri: `${baitUrl}/policy`,
      tos_uri: `${baitUrl}/tos`,
      request_uris: [`${baitUrl}/request`],
      initiate_login_uri: `${baitUrl}/initiate`,
      backchannel_logout_uri: `${baitUrl}/logout`,
      software_statement: `${baitUrl}/statement`,
    });
    for (const member of [
      'logo_uri',
      'jwks_uri',
      'sector_identifier_uri',
      'request_uris',
      'backchannel_logout_uri',
    ])
      expect(rest).not.toHaveProperty(member);
    const flow = authorization(gatehouse, id);
    const page = await openConsent(flow, createVisitor());
    expect(page.html).not.toContain('/logo.png');
    expect(page.html).not.toContain('<img');
    expect(page.response.headers.get('content-security-policy')).toContain("img-src 'none'");
    const code = (await approve(flow)).searchParams.get('code') ?? '';
    expect((await redeem(gatehouse.url, flow, code)).status).toBe(200);
    expect(caught).toEqual([]);
  });
});
