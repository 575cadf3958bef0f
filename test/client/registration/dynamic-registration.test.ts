import { describe, expect, it } from 'vitest';
import { discover, loopbackRedirectUris, registerDynamically } from '../../../src/client/index.ts';
import { isRedirectRefusal, redirectAllows } from '../../../src/client/registration/dynamic-registration.ts';
import { testContext } from '../support/context.ts';
import { startAuthorizationServer, startMcpServer } from '../support/protected-server.ts';

const redirectUri = 'http://127.0.0.1:4711/callback';

async function setUp(overrides: Record<string, unknown> = {}) {
  const as = await startAuthorizationServer(overrides);
  const mcp = await startMcpServer(as);
  const context = testContext();
  const found = await discover(context, mcp.url);
  const registered = () =>
    as.requests.filter(({ path }) => path === '/register').map(({ body }) => JSON.parse(body));
  return { as, context, found, registered };
}

describe('dynamic registration', () => {
  it('registers a native public client with loopback redirects without a port (A5-02, A5-04)', async () => {
    const { context, found, registered } = await setUp();
    await registerDynamically(context, found.authorizationServer, { redirectUri });
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
  });

  it('sends an initial access token to the registration endpoint, each time it asks (A5-02)', async () => {
    const { as, context, found } = await setUp();
    const { authorizationServer } = found;
    as.routes['POST /register'] = { status: 400, json: { error: 'invalid_redirect_uri' } };
    const wanted = { redirectUri, initialAccessToken: 'invited' };
    await expect(registerDynamically(context, authorizationServer, wanted)).rejects.toThrow();
    expect(as.requests.map(({ path, headers }) => [path, headers.authorization]).slice(-2)).toEqual([
      ['/register', 'Bearer invited'],
      ['/register', 'Bearer invited'],
    ]);
    await expect(registerDynamically(context, authorizationServer, { redirectUri })).rejects.toThrow();
    expect(as.requests.at(-1)?.headers.authorization).toBeUndefined();
  });

  it('is tried once more with the exact redirect URI where a redirect rule refused it (A5-05)', async () => {
    const { as, context, found, registered } = await setUp();
    as.routes['POST /register'] = ({ body }) => {
      const metadata = JSON.parse(body) as { redirect_uris: string[] };
      return metadata.redirect_uris[0] === redirectUri
        ? { status: 201, json: { ...metadata, client_id: 'exact' } }
        : { status: 400, json: { error: 'invalid_redirect_uri' } };
    };
    const registration = await registerDynamically(context, found.authorizationServer, { redirectUri });
    expect(registration).toMatchObject({ clientId: 'exact', redirectUris: [redirectUri] });
    expect(registered().map(({ redirect_uris }) => redirect_uris)).toEqual([
      [...loopbackRedirectUris],
      [redirectUri],
    ]);
  });

  it('that is refused shows the reason and is not repeated (A5-05)', async () => {
    const { as, context, found, registered } = await setUp();
    as.routes['POST /register'] = {
      status: 400,
      json: { error: 'invalid_client_metadata', error_description: 'name not allowed' },
    };
    await expect(
      registerDynamically(context, found.authorizationServer, { redirectUri }),
    ).rejects.toMatchObject({
      reason: 'registration_refused',
      message: expect.stringContaining('"invalid_client_metadata" ("name not allowed")'),
    });
    expect(registered()).toHaveLength(1);
  });

  it('keeps the secret and method a server assigns', async () => {
    const { as, context, found } = await setUp();
    as.routes['POST /register'] = {
      status: 201,
      json: {
        client_id: 'c',
        client_secret: 's',
        client_secret_expires_at: 0,
        token_endpoint_auth_method: 'client_secret_post',
      },
    };
    const registration = await registerDynamically(context, found.authorizationServer, { redirectUri });
    expect(registration).toMatchObject({ clientSecret: 's', tokenEndpointAuthMethod: 'client_secret_post' });
    expect(registration.clientSecretExpiresAt).toBeUndefined();
  });

  it('takes a secret without a word about its end as one that has none', async () => {
    const { as, context, found } = await setUp();
    as.routes['POST /register'] = { status: 201, json: { client_id: 'c', client_secret: 's' } };
    const registration = await registerDynamically(context, found.authorizationServer, { redirectUri });
    expect(registration).toMatchObject({ clientId: 'c', clientSecret: 's' });
    expect(registration.clientSecretExpiresAt).toBeUndefined();
  });

  it('takes an answer with status 200 for a registration', async () => {
    const { as, context, found } = await setUp();
    as.routes['POST /register'] = { status: 200, json: { client_id: 'c' } };
    const registration = await registerDynamically(context, found.authorizationServer, { redirectUri });
    expect(registration.clientId).toBe('c');
  });

  it('that is refused says how to get in without (A5-01, A5-05)', async () => {
    const { as, context, found } = await setUp({ client_id_metadata_document_supported: true });
    as.routes['POST /register'] = { status: 403, json: { error: 'access_denied' } };
    await expect(
      registerDynamically(context, found.authorizationServer, { redirectUri }),
    ).rejects.toMatchObject({
      reason: 'registration_refused',
      message: expect.stringMatching(/Ask its operator for a client id.*client metadata document/),
    });
  });

  it.each([
    ['no JSON', { status: 201, text: 'welcome' }],
    ['no client id', { status: 201, json: { client_secret: 's' } }],
  ])('refuses an answer with %s', async (_, answer) => {
    const { as, context, found } = await setUp();
    as.routes['POST /register'] = answer;
    await expect(
      registerDynamically(context, found.authorizationServer, { redirectUri }),
    ).rejects.toMatchObject({ reason: 'registration_refused' });
  });

  it('asks for a method the server takes where it takes no public client (A8-11)', async () => {
    const { context, found, registered } = await setUp({
      token_endpoint_auth_methods_supported: ['private_key_jwt', 'client_secret_post'],
    });
    await registerDynamically(context, found.authorizationServer, { redirectUri });
    expect(registered()[0].token_endpoint_auth_method).toBe('client_secret_post');
  });

  it('says that a client with a redirect on a web site is a web client (A5-04)', async () => {
    const { context, found, registered } = await setUp();
    const callback = 'https://app.example/callback';
    await registerDynamically(context, found.authorizationServer, {
      redirectUri: callback,
      registeredRedirectUris: [callback],
      clientName: 'App',
    });
    expect(registered()).toEqual([
      expect.objectContaining({
        application_type: 'web',
        redirect_uris: [callback],
        client_name: 'App',
      }),
    ]);
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

  it.each([
    ['invalid_request', 'Unregistered redirect_uri', true],
    ['invalid_request', 'redirect URI is not valid', true],
    ['redirect_uri_mismatch', undefined, true],
    ['invalid_redirect_uri', undefined, true],
    ['invalid_request', 'scope is missing', false],
    ['access_denied', 'redirect_uri', false],
  ])('%s (%s) – about the redirect URI: %s (CL-3)', (error, description, expected) => {
    expect(isRedirectRefusal(error, description)).toBe(expected);
  });
});
