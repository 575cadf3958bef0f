import { exportJWK, exportPKCS8, generateKeyPair } from 'jose';
import { describe, expect, it } from 'vitest';
import {
  type ClientIdentity,
  clientCredentialsAuthorizer,
  createMemoryStore,
  freshCredential,
  loginWithClientCredentials,
  readPrivateKey,
  withAuthorization,
} from '../../../src/client/index.ts';
import { testContext } from '../support/context.ts';
import { realContext, robotSecret, startOidcServer } from '../support/oidc-server.ts';
import { startAuthorizationServer, startMcpServer } from '../support/protected-server.ts';

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

  it.each(['ES256', 'RS256', 'EdDSA'])('get it in with a private key for %s (A13-02)', async (algorithm) => {
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
  });

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
