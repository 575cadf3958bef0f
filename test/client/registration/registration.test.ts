import { describe, expect, it } from 'vitest';
import {
  createMemoryStore,
  discover,
  loopbackRedirectUris,
  obtainRegistration,
} from '../../../src/client/index.ts';
import { redirectAllows } from '../../../src/client/registration/registration.ts';
import { testContext } from '../support/context.ts';
import { testCredential, testRegistration } from '../support/credentials.ts';
import { startAuthorizationServer, startMcpServer } from '../support/protected-server.ts';

const redirectUri = 'http://127.0.0.1:4711/callback';

async function setUp(overrides: Record<string, unknown> = {}) {
  const as = await startAuthorizationServer(overrides);
  const mcp = await startMcpServer(as);
  const context = testContext();
  const store = createMemoryStore();
  const found = await discover(context, mcp.url);
  const registered = () =>
    as.requests.filter(({ path }) => path === '/register').map(({ body }) => JSON.parse(body));
  return { as, mcp, context, store, found, registered };
}

describe('registration', () => {
  it('registers a native public client with loopback redirects without a port (A5-02, A5-04)', async () => {
    const { context, store, found, registered } = await setUp();
    const { registration, how } = await obtainRegistration(context, found, store, { redirectUri });
    expect(how).toBe('new');
    expect(registered()).toEqual([
      {
        client_name: 'Gatehouse',
        application_type: 'native',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
        redirect_uris: ['http://127.0.0.1/callback', 'http://[::1]/callback'],
      },
    ]);
    expect(await store.findRegistration(found.authorizationServer.issuer)).toEqual(registration);
  });

  it('is not repeated for another port (A5-10)', async () => {
    const { context, store, found, registered } = await setUp();
    const first = await obtainRegistration(context, found, store, { redirectUri });
    const again = await obtainRegistration(context, found, store, {
      redirectUri: 'http://127.0.0.1:5/callback',
    });
    expect(again).toEqual({ registration: first.registration, how: 'kept' });
    expect(registered()).toHaveLength(1);
  });

  it('is repeated after the end of the client secret', async () => {
    const { context, store, found } = await setUp();
    const { issuer } = found.authorizationServer;
    const old = testRegistration({ issuer, clientSecret: 's', clientSecretExpiresAt: context.now() });
    await store.saveRegistration(old);
    expect((await obtainRegistration(context, found, store, { redirectUri })).how).toBe('new');
  });

  it('is not done where a client id is given, not even where one is kept (A5-01, A5-11)', async () => {
    const { context, store, found, registered } = await setUp();
    await obtainRegistration(context, found, store, { redirectUri });
    const given = { clientId: 'mine', clientSecret: 'secret' };
    const result = await obtainRegistration(context, found, store, { redirectUri, given });
    expect(result).toMatchObject({
      how: 'given',
      registration: { clientId: 'mine', clientSecret: 'secret' },
    });
    expect(registered()).toHaveLength(1);
    const again = await obtainRegistration(context, found, store, {
      redirectUri,
      given: { clientId: 'mine' },
    });
    expect(again.registration.clientSecret).toBe('secret');
  });

  it('without an endpoint and without a client id says what to ask the operator for (A5-01)', async () => {
    const { context, store, found } = await setUp({ registration_endpoint: undefined });
    await expect(obtainRegistration(context, found, store, { redirectUri })).rejects.toMatchObject({
      reason: 'no_registration',
      message: expect.stringContaining('http://127.0.0.1/callback'),
    });
  });

  it('is tried once more with the exact redirect URI where a redirect rule refused it (A5-05)', async () => {
    const { as, context, store, found, registered } = await setUp();
    as.routes['POST /register'] = ({ body }) => {
      const metadata = JSON.parse(body) as { redirect_uris: string[] };
      return metadata.redirect_uris[0] === redirectUri
        ? { status: 201, json: { ...metadata, client_id: 'exact' } }
        : { status: 400, json: { error: 'invalid_redirect_uri' } };
    };
    const { registration } = await obtainRegistration(context, found, store, { redirectUri });
    expect(registration).toMatchObject({ clientId: 'exact', redirectUris: [redirectUri] });
    expect(registered().map(({ redirect_uris }) => redirect_uris)).toEqual([
      [...loopbackRedirectUris],
      [redirectUri],
    ]);
  });

  it('that is refused shows the reason and is not repeated (A5-05)', async () => {
    const { as, context, store, found, registered } = await setUp();
    as.routes['POST /register'] = {
      status: 400,
      json: { error: 'invalid_client_metadata', error_description: 'name not allowed' },
    };
    await expect(obtainRegistration(context, found, store, { redirectUri })).rejects.toMatchObject({
      reason: 'registration_refused',
      message: expect.stringContaining('"invalid_client_metadata" ("name not allowed")'),
    });
    expect(registered()).toHaveLength(1);
  });

  it('keeps the secret and method a server assigns', async () => {
    const { as, context, store, found } = await setUp();
    as.routes['POST /register'] = {
      status: 201,
      json: {
        client_id: 'c',
        client_secret: 's',
        client_secret_expires_at: 0,
        token_endpoint_auth_method: 'client_secret_post',
      },
    };
    const { registration } = await obtainRegistration(context, found, store, { redirectUri });
    expect(registration).toMatchObject({ clientSecret: 's', tokenEndpointAuthMethod: 'client_secret_post' });
    expect(registration.clientSecretExpiresAt).toBeUndefined();
  });
});

describe('when a server names another authorization server', () => {
  async function move(source: 'given' | 'dynamic') {
    const before = await startAuthorizationServer();
    const set = await setUp();
    const old = testRegistration({
      issuer: before.origin,
      clientId: 'old',
      clientSecret: 'old-secret',
      source,
    });
    await set.store.saveRegistration(old);
    await set.store.saveCredential(
      set.found.server,
      testCredential({ issuer: before.origin, refreshToken: 'old-rt' }),
    );
    return { before, ...set };
  }

  it('nothing of the first one is sent to it, and the client registers anew (A5-10, T-184)', async () => {
    const { as, context, store, found, before } = await move('dynamic');
    const { registration } = await obtainRegistration(context, found, store, { redirectUri });
    expect(registration).toMatchObject({ issuer: as.origin, source: 'dynamic' });
    expect(registration.clientId).not.toBe('old');
    expect(JSON.stringify(as.requests)).not.toMatch(/old/);
    expect((await store.findRegistration(before.origin))?.clientId).toBe('old');
  });

  it('a client id the user gave for the first one is an error, not a silent registration (A5-10, T-184)', async () => {
    const { as, context, store, found } = await move('given');
    await expect(obtainRegistration(context, found, store, { redirectUri })).rejects.toMatchObject({
      reason: 'authorization_server_changed',
    });
    expect(as.asked()).not.toContain('POST /register');
  });
});

describe('a registered redirect URI', () => {
  it.each([
    ['http://127.0.0.1/callback', 'http://127.0.0.1:1/callback', true],
    ['http://[::1]/callback', 'http://[::1]:1/callback', true],
    ['http://127.0.0.1:1/callback', 'http://127.0.0.1:1/callback', true],
    ['http://127.0.0.1:1/callback', 'http://127.0.0.1:2/callback', false],
    ['http://127.0.0.1/callback', 'http://127.0.0.1:1/other', false],
    ['http://127.0.0.1/callback', 'http://localhost:1/callback', false],
    ['https://x.example/cb', 'https://x.example:1/cb', false],
  ])('%s for %s: %s', (registered, wanted, allowed) => {
    expect(redirectAllows(registered, wanted)).toBe(allowed);
  });
});
