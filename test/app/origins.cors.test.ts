import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../support/gatehouse.ts';
import { obtainTokens, post, refresh, register } from '../support/oauth.ts';

const known = 'https://inspector.example';
const unknown = ['https://evil.example', 'null', 'https://inspector.example.evil.example', 'file://'];

let gatehouse: RunningGatehouse;
beforeAll(async () => {
  gatehouse = await startGatehouse({ allowedOrigins: [known] });
});
afterAll(() => gatehouse.stop());

function preflight(path: string, origin: string, method = 'POST'): Promise<Response> {
  return fetch(`${gatehouse.url}${path}`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization, content-type, mcp-protocol-version',
    },
  });
}

describe('no answer', () => {
  it('allows credentials to a page, whatever its origin (T-114)', async () => {
    for (const path of [
      '/mcp',
      '/token',
      '/register',
      '/revoke',
      '/jwks',
      '/authorize',
      '/interaction/x',
      '/healthz',
    ]) {
      for (const origin of [known, ...unknown]) {
        const headers = { origin, cookie: 'gatehouse-session=x' };
        for (const response of [
          await preflight(path, origin),
          await fetch(`${gatehouse.url}${path}`, { headers }),
          await fetch(`${gatehouse.url}${path}`, { method: 'POST', headers }),
        ])
          expect(response.headers.get('access-control-allow-credentials')).toBeNull();
      }
    }
  });

  it('of a page for persons is readable by other pages (T-114)', async () => {
    for (const path of ['/authorize', '/interaction/x']) {
      const response = await fetch(`${gatehouse.url}${path}`, {
        headers: { origin: 'https://evil.example' },
      });
      expect(response.headers.get('access-control-allow-origin')).toBeNull();
    }
  });
});

describe('the MCP endpoint', () => {
  it.each(unknown)(
    'refuses pages of %s with 403, in the preflight too, and says nothing to them (T-114)',
    async (origin) => {
      const { tokens } = await obtainTokens(gatehouse);
      for (const response of [
        await preflight('/mcp', origin),
        await fetch(gatehouse.mcpUrl, {
          method: 'POST',
          headers: { origin, authorization: `Bearer ${tokens.access_token}` },
        }),
      ]) {
        expect(response.status).toBe(403);
        expect(response.headers.get('access-control-allow-origin')).toBeNull();
        expect(response.headers.get('vary')).toContain('Origin');
      }
    },
  );

  it('lets a listed origin in, and lets it read what it needs (T-114)', async () => {
    const allowed = await preflight('/mcp', known);
    expect(allowed.status).toBe(204);
    expect(Object.fromEntries(allowed.headers)).toMatchObject({
      'access-control-allow-origin': known,
      'access-control-allow-methods': 'GET, POST, DELETE',
      'access-control-allow-headers': 'authorization, content-type, mcp-protocol-version',
      vary: expect.stringContaining('Origin'),
    });
    const refused = await fetch(gatehouse.mcpUrl, { headers: { origin: known } });
    expect(refused.status).toBe(401);
    expect(refused.headers.get('access-control-allow-origin')).toBe(known);
    expect(refused.headers.get('access-control-expose-headers')).toContain('WWW-Authenticate');
  });
});

describe('the token endpoint', () => {
  it('answers a page of a public client, by its origin and without credentials (T-114)', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse);
    const origin = 'https://app.example.com';
    expect((await preflight('/token', origin)).status).toBe(204);
    const response = await post(
      `${gatehouse.url}/token`,
      { grant_type: 'refresh_token', client_id: clientId, refresh_token: tokens.refresh_token },
      { origin },
    );
    expect(response.status).toBe(200);
    expect(response.headers.get('access-control-allow-origin')).toBe(origin);
    expect(response.headers.get('vary')).toContain('Origin');
  });

  it('does not answer a page of a client that has a secret (T-114)', async () => {
    const client = await register(gatehouse.url, { token_endpoint_auth_method: 'client_secret_post' });
    const response = await post(
      `${gatehouse.url}/token`,
      {
        grant_type: 'refresh_token',
        refresh_token: 'x',
        client_id: client.client_id,
        client_secret: String(client.client_secret),
      },
      { origin: 'https://app.example.com' },
    );
    expect([response.status, await response.json()]).toMatchObject([400, { error: 'invalid_request' }]);
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('does not answer a page without an origin (T-114)', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse);
    const response = await post(
      `${gatehouse.url}/token`,
      { grant_type: 'refresh_token', client_id: clientId, refresh_token: tokens.refresh_token },
      { origin: 'null' },
    );
    expect(response.status).toBe(400);
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
    expect((await refresh(gatehouse.url, clientId, tokens.refresh_token)).status).toBe(200);
  });
});

describe('registration and public documents', () => {
  it('are open to pages of any origin: they use no cookies (T-114)', async () => {
    for (const origin of [known, ...unknown]) {
      const allowed = await preflight('/register', origin);
      expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
      for (const path of [
        '/.well-known/oauth-authorization-server',
        '/jwks',
        '/.well-known/oauth-protected-resource/mcp',
      ]) {
        expect((await preflight(path, origin, 'GET')).headers.get('access-control-allow-origin')).toBe('*');
      }
    }
  });
});
