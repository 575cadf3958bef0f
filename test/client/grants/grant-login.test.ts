import { exportJWK, exportPKCS8, generateKeyPair } from 'jose';
import { describe, expect, it } from 'vitest';
import { grantAuthorizer, grantRefused, loginWithGrant } from '../../../src/client/grants/grant-login.ts';
import {
  type ClientIdentity,
  clientCredentialsAuthorizer,
  createMemoryStore,
  freshCredential,
  loginWithClientCredentials,
  loginWithWorkloadIdentity,
  readPrivateKey,
  startAuthorization,
  withAuthorization,
  workloadIdentityAuthorizer,
} from '../../../src/client/index.ts';
import { startOfTime, testContext } from '../support/context.ts';
import { testRegistration } from '../support/credentials.ts';
import { realContext, robotSecret, startOidcServer } from '../support/oidc-server.ts';
import { checkProof } from '../support/proofs.ts';
import { startAuthorizationServer, startMcpServer } from '../support/protected-server.ts';

const grant = {
  client: { clientId: 'c', clientSecret: 'very-secret' },
  grantType: 'urn:example:grant',
  parameters: { colour: 'blue' },
};

async function setUp(options: { scopes?: string[]; as?: Record<string, unknown> } = {}) {
  const as = await startAuthorizationServer(options.as);
  const mcp = await startMcpServer(as, options.scopes === undefined ? {} : { scopes: options.scopes });
  as.routes['POST /token'] = { json: { access_token: 'at', token_type: 'bearer', expires_in: 600 } };
  const forms = () =>
    as.requests
      .filter(({ path }) => path === '/token')
      .map(({ body }) => Object.fromEntries(new URLSearchParams(body)));
  return { as, mcp, store: createMemoryStore(), forms };
}

describe('a login by a grant without a user', () => {
  it('is one request with resource and scopes, and never the authorization page (A7-01, A13-02)', async () => {
    const { as, mcp, store, forms } = await setUp({
      scopes: ['read'],
      as: { scopes_supported: ['read', 'offline_access'] },
    });
    const { credential } = await loginWithGrant(testContext(), mcp.url, { store }, () => grant);
    expect(forms()).toEqual([
      { grant_type: 'urn:example:grant', colour: 'blue', resource: mcp.url, scope: 'read' },
    ]);
    expect(as.asked()).toEqual(['GET /.well-known/oauth-authorization-server', 'POST /token']);
    expect(await store.findCredential(mcp.url)).toEqual(credential);
    expect(credential).toMatchObject({ expiresAt: startOfTime + 600, scopes: ['read'] });
  });

  it.each([
    ['another issuer than the caller named', { issuer: 'https://as.example' }],
    ['another issuer than at the last login', { issuer: undefined }],
    ['another issuer than at the last login, which has ended', { issuer: undefined, hasEnded: true }],
  ])(
    'sends nothing to %s (A5-10, T-184)',
    async (_, { hasEnded, ...options }: { issuer: string | undefined; hasEnded?: boolean }) => {
      const { as, mcp, store } = await setUp();
      const first = await setUp();
      if (options.issuer === undefined) {
        const before = await loginWithGrant(testContext(), first.mcp.url, { store }, () => grant);
        await store.saveCredential(mcp.url, before.credential);
        if (hasEnded) await store.endCredential(before.credential);
      }
      const login = loginWithGrant(testContext(), mcp.url, { store, ...options }, () => grant);
      await expect(login).rejects.toMatchObject({
        reason: 'authorization_server_changed',
        message: expect.stringContaining('Nothing was sent there'),
      });
      expect(as.asked()).not.toContain('POST /token');
    },
  );

  it('needs no PKCE of the authorization server: there is no code to protect (A4-06)', async () => {
    const { mcp, store } = await setUp({ as: { code_challenge_methods_supported: undefined } });
    const { found } = await loginWithGrant(testContext(), mcp.url, { store }, () => grant);
    const registration = testRegistration({ issuer: found.authorizationServer.issuer });
    await expect(
      startAuthorization(found, registration, { redirectUri: 'http://127.0.0.1/callback' }),
    ).rejects.toMatchObject({ reason: 'no_pkce' });
  });

  it('binds the token to a key where the server takes no other (A13-09)', async () => {
    const { as, mcp, store } = await setUp();
    const challenge = { status: 401, headers: { 'www-authenticate': 'DPoP algs="ES256"' }, json: {} };
    mcp.routes['POST /mcp'] = challenge;
    as.routes['POST /token'] = { json: { access_token: 'at', token_type: 'DPoP' } };
    const { credential } = await loginWithGrant(testContext(), mcp.url, { store }, () => grant);
    const sent = as.requests.find(({ path }) => path === '/token');
    if (sent === undefined) throw new Error('no request');
    expect(checkProof(sent, as.origin, startOfTime).ath).toBeUndefined();
    expect(credential.dpopKey).toMatchObject({ alg: 'ES256' });
  });

  it('is refused a bearer token where a bound one was asked for (A13-09)', async () => {
    const { mcp, store } = await setUp();
    const login = loginWithGrant(testContext(), mcp.url, { store, dpop: true }, () => grant);
    await expect(login).rejects.toMatchObject({ reason: 'token_refused' });
    expect(await store.findCredential(mcp.url)).toBeUndefined();
  });

  it('starts from the refusal a session has met already: the server is not asked again', async () => {
    const { mcp, store, forms } = await setUp({ scopes: ['read'] });
    const authorize = grantAuthorizer({ store, scopes: ['mine'] }, (url, options) =>
      loginWithGrant(testContext(), url, options, () => grant),
    );
    const challenge = 'Bearer error="insufficient_scope", scope="write"';
    await authorize({ server: mcp.url, why: 'rejected', challenge });
    await authorize({ server: mcp.url, why: 'insufficient_scope', scopes: ['mine', 'write'], challenge });
    expect(forms().map(({ scope }) => scope)).toEqual(['mine', 'mine write']);
    expect(mcp.asked()).not.toContain('POST /mcp');
  });
});

describe('a refusal of a grant', () => {
  it.each([
    ['invalid_client', 'client_unknown'],
    ['invalid_grant', 'token_refused'],
    ['unauthorized_client', 'token_refused'],
    ['temporarily_unavailable', 'server_error'],
    [undefined, 'server_error'],
  ])('%s is %s: only the last two may be good later', (error, reason) => {
    const refusal = { message: 'm', ...(error === undefined ? {} : { error }) };
    expect(grantRefused(refusal)).toMatchObject({ reason, message: 'm' });
  });
});

describe('client credentials', () => {
  const robot: ClientIdentity = { clientId: 'robot', clientSecret: robotSecret };

  describe('client credentials', () => {
    it('get a machine in with its secret: the token is for the server, with the scopes it names (A13-02, A8-11)', async () => {
      const { url, issuer, tokenRequests, mcp } = await startOidcServer();
      const context = realContext();
      const store = createMemoryStore();
      const { credential } = await loginWithClientCredentials(context, url, { store, client: robot });
      expect(credential).toMatchObject({ resource: url, clientId: 'robot', scopes: ['read'] });
      expect(await store.findCredential(url)).toEqual(credential);
      const response = await withAuthorization(context, url, store)(url, { method: 'POST', body: '{}' });
      expect(await response.json()).toMatchObject({ client: 'robot', scope: 'read' });
      expect(tokenRequests).toHaveLength(1);
      expect(Object.fromEntries(tokenRequests[0]?.form ?? [])).toEqual({
        grant_type: 'client_credentials',
        resource: url,
        scope: 'read',
      });
      expect(tokenRequests[0]?.headers.authorization).toMatch(/^Basic /);
      expect(mcp.asked()).not.toContain('GET /authorize');
      expect(await store.findRegistration(issuer)).toBeUndefined();
    });

    it.each(['ES256', 'RS256', 'EdDSA'])(
      'get it in with a private key for %s (A13-02)',
      async (algorithm) => {
        const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
        const { url, tokenRequests } = await startOidcServer({
          robotKeys: [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: algorithm, use: 'sig' } as never],
        });
        const key = await readPrivateKey(await exportPKCS8(privateKey), { algorithm, keyId: 'k1' });
        const client = { clientId: 'robot-jwt', privateKey: key };
        const store = createMemoryStore();
        const { credential } = await loginWithClientCredentials(realContext(), url, { store, client });
        expect(credential.accessToken).toBeDefined();
        expect(tokenRequests[0]?.headers.authorization).toBeUndefined();
        expect(tokenRequests[0]?.form.get('client_secret')).toBeNull();
      },
    );

    it('are asserted anew when the server wants a nonce first: no assertion is used twice (A13-02, A13-09)', async () => {
      const { publicKey, privateKey } = await generateKeyPair('ES256');
      const { url, tokenRequests } = await startOidcServer({
        robotKeys: [{ ...(await exportJWK(publicKey)), alg: 'ES256', use: 'sig' } as never],
        dpop: true,
        nonces: true,
      });
      const context = realContext();
      const store = createMemoryStore();
      const client = { clientId: 'robot-jwt', privateKey };
      await loginWithClientCredentials(context, url, { store, client });
      const response = await withAuthorization(context, url, store)(url, { method: 'POST', body: '{}' });
      expect(await response.json()).toMatchObject({ client: 'robot-jwt' });
      expect(new Set(tokenRequests.map(({ form }) => form.get('client_assertion'))).size).toBe(2);
    });

    it('are repeated when the token ends, once for all who ask, by whoever has the store (A9-05, A13-02)', async () => {
      const as = await startAuthorizationServer();
      const mcp = await startMcpServer(as, { scopes: ['read'] });
      let issued = 0;
      as.routes['POST /token'] = () => ({
        json: {
          access_token: `at${++issued}`,
          token_type: 'bearer',
          expires_in: 600,
          refresh_token: 'unwanted',
        },
      });
      const context = testContext();
      const store = createMemoryStore();
      const { credential } = await loginWithClientCredentials(context, mcp.url, { store, client: robot });
      expect(credential.refreshToken).toBeUndefined();
      context.clock.seconds += 541;
      const all = await Promise.all([1, 2, 3].map(() => freshCredential(context, store, mcp.url)));
      expect(all.map((one) => one?.accessToken)).toEqual(['at2', 'at2', 'at2']);
      const forms = as.requests
        .filter(({ path }) => path === '/token')
        .map(({ body, headers }) => [Object.fromEntries(new URLSearchParams(body)), headers.authorization]);
      expect(forms).toHaveLength(2);
      expect(forms[1]).toEqual(forms[0]);
    });

    it('ask for more when a call needs it: all scopes held and required (A8-07)', async () => {
      const { url, tokenRequests } = await startOidcServer();
      const store = createMemoryStore();
      const authorize = clientCredentialsAuthorizer(realContext(), { store, client: robot });
      await authorize({ server: url, why: 'no_credential', challenge: null });
      const scopes = ['read', 'write'];
      const credential = await authorize({ server: url, why: 'insufficient_scope', scopes, challenge: null });
      expect(credential.scopes).toEqual(scopes);
      expect(tokenRequests.map(({ form }) => form.get('scope'))).toEqual(['read', 'read write']);
    });

    it('bring a session in that has no login yet, and again when its token is rejected (A8-01)', async () => {
      const as = await startAuthorizationServer();
      const mcp = await startMcpServer(as);
      let issued = 0;
      as.routes['POST /token'] = () => {
        as.accessTokens.clear();
        as.accessTokens.add(`at${++issued}`);
        return { json: { access_token: `at${issued}`, token_type: 'bearer' } };
      };
      const context = testContext();
      const store = createMemoryStore();
      const { privateKey } = await generateKeyPair('ES256');
      const client = { clientId: 'robot-jwt', privateKey };
      const authorizer = clientCredentialsAuthorizer(context, { store, client });
      const send = withAuthorization(context, mcp.url, store, { authorizer });
      const call = async () => (await send(mcp.url, { method: 'GET' })).status;
      expect(await call()).toBe(405);
      as.accessTokens.clear();
      expect(await call()).toBe(405);
      expect(issued).toBe(2);
    });

    it('that are wrong are refused with a name, and nothing is kept (T-191)', async () => {
      const { url } = await startOidcServer();
      const store = createMemoryStore();
      const client = { clientId: 'robot', clientSecret: 'wrong-secret' };
      const failure = await loginWithClientCredentials(realContext(), url, { store, client }).catch(
        (thrown: unknown) => thrown,
      );
      expect(failure).toMatchObject({ reason: 'client_unknown' });
      expect(String(failure)).not.toContain('wrong-secret');
      expect(await store.findCredential(url)).toBeUndefined();
    });
  });
});

describe('workload identity', () => {
  async function setUp() {
    const as = await startAuthorizationServer();
    const mcp = await startMcpServer(as, { scopes: ['read'] });
    as.routes['POST /token'] = ({ body }) =>
      new URLSearchParams(body).get('assertion') === 'good.jwt'
        ? { json: { access_token: 'at', token_type: 'bearer', expires_in: 60 } }
        : { status: 400, json: { error: 'invalid_grant' } };
    const forms = () =>
      as.requests
        .filter(({ path }) => path === '/token')
        .map(({ body }) => Object.fromEntries(new URLSearchParams(body)));
    return { as, mcp, forms, options: { store: createMemoryStore(), clientId: 'workload' } };
  }

  describe('a workload identity', () => {
    it('is the assertion of one request, without a secret, for the audience it is asked for (A13-10)', async () => {
      const { as, mcp, forms, options } = await setUp();
      const audiences: string[] = [];
      const assertion = (audience: string) => {
        audiences.push(audience);
        return 'good.jwt';
      };
      const { credential } = await loginWithWorkloadIdentity(testContext(), mcp.url, {
        ...options,
        assertion,
      });
      expect(audiences).toEqual([as.origin]);
      expect(forms()).toEqual([
        {
          grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
          assertion: 'good.jwt',
          client_id: 'workload',
          resource: mcp.url,
          scope: 'read',
        },
      ]);
      expect(credential).toMatchObject({ workload: true });
      expect(credential.grant).toBeUndefined();
    });

    it.each(['invalid_grant', 'invalid_scope', 'unauthorized_client'])(
      'that is refused with %s is not tried again, nor by another grant (A13-10)',
      async (error) => {
        const { as, mcp, forms, options } = await setUp();
        as.routes['POST /token'] = { status: 400, json: { error } };
        const authorize = workloadIdentityAuthorizer(testContext(), {
          ...options,
          assertion: () => 'bad.jwt',
        });
        const need = { server: mcp.url, why: 'no_credential' as const, challenge: null };
        await expect(authorize(need)).rejects.toMatchObject({
          reason: 'token_refused',
          message: expect.stringContaining(error),
        });
        await expect(authorize(need)).rejects.toMatchObject({
          reason: 'token_refused',
          message: expect.stringContaining('not sent again'),
        });
        expect(forms()).toHaveLength(1);
        expect(as.asked()).not.toContain('GET /authorize');
      },
    );

    it('that is a new one after a refusal is tried, and so is one the server was only too busy for', async () => {
      const { as, mcp, forms, options } = await setUp();
      const jwts = ['bad.jwt', 'good.jwt', 'good.jwt'];
      const assertion = () => jwts.shift() ?? '';
      const authorize = workloadIdentityAuthorizer(testContext(), { ...options, assertion });
      const need = { server: mcp.url, why: 'rejected' as const, challenge: null };
      await expect(authorize(need)).rejects.toMatchObject({ reason: 'token_refused' });
      const token = as.routes['POST /token'];
      as.routes['POST /token'] = { status: 503, text: 'busy' };
      await expect(authorize(need)).rejects.toMatchObject({ reason: 'server_error' });
      as.routes['POST /token'] = token ?? {};
      expect((await authorize(need)).accessToken).toBe('at');
      expect(forms()).toHaveLength(3);
    });
  });
});
