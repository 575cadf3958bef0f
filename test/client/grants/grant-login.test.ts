import { describe, expect, it } from 'vitest';
import { grantAuthorizer, grantRefused, loginWithGrant } from '../../../src/client/grants/grant-login.ts';
import { createMemoryStore, startAuthorization } from '../../../src/client/index.ts';
import { startOfTime, testContext } from '../support/context.ts';
import { testRegistration } from '../support/credentials.ts';
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
