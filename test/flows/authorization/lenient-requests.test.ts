// Flows of src/authorization-server/endpoints/authorization-endpoint.ts, src/authorization-server/endpoints/form-body.ts and
// src/authorization-server/client-metadata.ts: what clients of the field send.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import {
  approve,
  authorization,
  obtainTokens,
  openConsent,
  post,
  redirectUri,
  refresh,
  register,
  type Tokens,
} from '../../support/oauth.ts';
import { createVisitor } from '../../support/visitor.ts';
import { askForCode, claim, deviceGrant, poll } from '../device/subject.ts';

let gate: RunningGatehouse;
let client: string;
beforeAll(async () => {
  gate = await startGatehouse();
  client = (await register(gate.url)).client_id;
});
afterAll(() => gate.stop());

const basic = (user: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});

/** Scopes that the consent page offers for a request. */
async function offered(scope: string | undefined): Promise<string[]> {
  const { html } = await openConsent(authorization(gate, client, { scope }), createVisitor());
  return [...html.matchAll(/name="scope" value="([^"]*)"/g)].map(([, one]) => one ?? '');
}

describe('a request for scopes of the authorization server alone', () => {
  it.each(['openid email profile', 'openid', 'openid profile offline_access', 'email', 'address phone'])(
    'is one for the baseline scopes beside them: %s (FA-28)',
    async (scope) => {
      const baseline = await offered(undefined);
      expect(baseline.length).toBeGreaterThan(0);
      expect(await offered(scope)).toEqual(baseline);
    },
  );

  it('stays what it is where it asks for a scope of the server as well (FA-28)', async () => {
    expect(await offered('openid email notes:read')).toEqual(['notes:read']);
  });
});

describe('spaces between scopes', () => {
  it.each(['notes:read  notes:write', ' notes:read notes:write ', 'notes:read notes:write notes:read'])(
    'are read however many there are in an authorization request: %j (FA-28)',
    async (scope) => {
      expect(await offered(scope)).toEqual(['notes:read', 'notes:write']);
    },
  );

  it('are read at a refresh and in a pushed request (FA-28)', async () => {
    const { clientId, tokens } = await obtainTokens(gate);
    const fresh = await refresh(gate.url, clientId, tokens.refresh_token, {
      scope: ' notes:read  notes:write',
    });
    expect([fresh.status, ((await fresh.json()) as Tokens).scope]).toEqual([200, 'notes:read notes:write']);
    const flow = authorization(gate, client, { scope: 'notes:read  notes:write' });
    const pushed = await post(`${gate.url}/par`, [...new URL(flow.url).searchParams] as [string, string][]);
    expect(pushed.status).toBe(201);
  });
});

describe('HTTP Basic with an empty password', () => {
  it('is the client id of a public client, at /token and /revoke (FA-28)', async () => {
    const flow = authorization(gate, client);
    const code = (await approve(flow)).searchParams.get('code') ?? '';
    const redeemed = await post(
      `${gate.url}/token`,
      { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: flow.verifier },
      basic(client, ''),
    );
    expect(redeemed.status).toBe(200);
    const { refresh_token } = (await redeemed.json()) as Tokens;
    const again = await post(
      `${gate.url}/token`,
      { grant_type: 'refresh_token', refresh_token, client_id: client },
      basic(client, ''),
    );
    expect(again.status).toBe(200);
    const next = ((await again.json()) as Tokens).refresh_token;
    expect((await post(`${gate.url}/revoke`, { token: next }, basic(client, ''))).status).toBe(200);
    expect((await refresh(gate.url, client, next)).status).toBe(400);
  });

  it('proves nothing for a client that has a secret (FA-28, T-047)', async () => {
    const { client_id } = await register(gate.url, { token_endpoint_auth_method: 'client_secret_basic' });
    const refused = await post(
      `${gate.url}/token`,
      { grant_type: 'refresh_token', refresh_token: 'x' },
      basic(client_id, ''),
    );
    expect(refused.status).toBe(401);
    expect(await refused.json()).toMatchObject({ error: 'invalid_client' });
    expect(refused.headers.get('www-authenticate')).toContain('Basic');
  });

  it('names no other client than the form (FA-28)', async () => {
    const refused = await post(
      `${gate.url}/token`,
      { grant_type: 'refresh_token', refresh_token: 'x', client_id: 'another' },
      basic(client, ''),
    );
    expect(refused.status).toBeGreaterThanOrEqual(400);
    expect(await refused.json()).not.toMatchObject({ error: 'invalid_grant' });
  });
});

describe('a client that logs in with device codes alone', () => {
  it.each([
    ['no redirect_uris', undefined],
    ['an empty list of them', []],
  ])('registers with %s, and gets tokens (FA-28)', async (_what, redirect_uris) => {
    const registered = await register(gate.url, {
      client_name: 'A lamp',
      grant_types: [deviceGrant, 'refresh_token'],
      redirect_uris,
    });
    const waiting = await askForCode(gate, registered.client_id);
    const visitor = createVisitor();
    const consent = await claim(waiting, visitor);
    await visitor.submit(consent, '/consent', [
      ['decision', 'allow'],
      ['scope', 'notes:read'],
    ]);
    const { status, body } = await poll(gate.url, waiting);
    expect([status, body.scope]).toEqual([200, 'notes:read']);
    expect((await refresh(gate.url, registered.client_id, body.refresh_token ?? '')).status).toBe(200);
  });

  it('cannot begin an authorization, having nowhere to be sent (FA-28, T-005)', async () => {
    const { client_id } = await register(gate.url, { grant_types: [deviceGrant], redirect_uris: undefined });
    const { response } = await createVisitor().open(authorization(gate, client_id).url);
    expect([response.status, response.headers.get('location')]).toEqual([400, null]);
  });

  it.each([
    ['the grant of codes', ['authorization_code', deviceGrant]],
    ['no grant types', undefined],
  ])('needs redirect_uris if it registers with %s (T-058)', async (_what, grant_types) => {
    await expect(register(gate.url, { grant_types, redirect_uris: undefined })).rejects.toThrow(
      'invalid_redirect_uri',
    );
  });
});
