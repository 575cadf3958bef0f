import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { endLogin, forgetClients } from '../../../../src/cli/commands/mcp-client/logout.ts';
import { credentialKey } from '../../../../src/client/index.ts';
import { createTokenFile } from '../../../../src/client/node/index.ts';
import { testContext } from '../../../client/support/context.ts';
import { testCredential, testRegistration } from '../../../client/support/credentials.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { startAuthorizationServer } from '../../../client/support/protected-server.ts';

const server = 'https://mcp.example/mcp';

async function setUp(overrides: Parameters<typeof testCredential>[0] = {}) {
  const as = await startAuthorizationServer();
  const store = createTokenFile(testFolder());
  await store.saveRegistration(testRegistration({ issuer: as.origin }));
  const credential = testCredential({ issuer: as.origin, ...overrides });
  await store.saveCredential(server, credential);
  const end = () => endLogin({ server, credential }, store, { context: testContext() });
  return { as, store, credential, end };
}

describe('a login ends', () => {
  it('at its issuer, with its refresh token (A9-04)', async () => {
    const { as, store, end } = await setUp();
    expect(await end()).toEqual({ server, revoked: true, why: null });
    expect(new URLSearchParams(as.requests[0]?.body).get('token')).toBe('rt');
    expect(await store.findCredential(server)).toBeUndefined();
  });

  it('here, where the issuer cannot end it, or refuses', async () => {
    const none = await setUp({ authorizationServer: { issuer: 'https://a', token_endpoint: 'https://a/t' } });
    await none.store.saveRegistration(testRegistration({ issuer: 'https://a' }));
    expect(await none.end()).toMatchObject({ revoked: false, why: expect.stringContaining('no way to end') });
    const refused = await setUp();
    refused.as.routes['POST /revoke'] = { status: 401, json: { error: 'invalid_client' } };
    expect(await refused.end()).toMatchObject({ revoked: false, why: expect.stringContaining('refused') });
    expect(await refused.store.findCredential(server)).toBeUndefined();
  });

  it('as the client it was made with, also where the next login has another (A5-10)', async () => {
    const { as, store, end } = await setUp();
    await store.saveRegistration(testRegistration({ issuer: as.origin, clientSecret: 'own' }));
    await store.saveRegistration(
      testRegistration({ issuer: as.origin, clientId: 'newer', clientSecret: 's' }),
    );
    expect(await end()).toMatchObject({ revoked: true });
    expect(as.requests[0]?.headers.authorization).toBe(`Basic ${btoa('client:own')}`);
    const alone = await setUp({ clientId: 'earlier' });
    expect(await alone.end()).toMatchObject({ revoked: true });
    expect(new URLSearchParams(alone.as.requests[0]?.body).get('client_id')).toBe('earlier');
  });

  it('not where no answer comes, or the issuer cannot end it now', async () => {
    const { as, store, end } = await setUp();
    as.routes['POST /revoke'] = { raw: (response) => void response.destroy() };
    await expect(end()).rejects.toMatchObject({ reason: 'unreachable' });
    as.routes['POST /revoke'] = { status: 503, json: { error: 'temporarily_unavailable' } };
    await expect(end()).rejects.toMatchObject({ reason: 'server_error' });
    expect(await store.findCredential(server)).toBeDefined();
  });

  it('with the tokens that a renewal under way brings, so that none is left behind (T-188)', async () => {
    const { as, store, credential, end } = await setUp();
    const begun = Promise.withResolvers<void>();
    const renewal = store.exclusively(credentialKey(credential), async () => {
      begun.resolve();
      await sleep(50);
      const renewed = { ...credential, accessToken: 'renewed', refreshToken: 'renewed' };
      await store.saveCredential(server, renewed, credential);
    });
    await begun.promise;
    const [ending] = await Promise.all([end(), renewal]);
    expect(ending.revoked).toBe(true);
    expect(new URLSearchParams(as.requests[0]?.body).get('token')).toBe('renewed');
    expect(await store.findCredential(server)).toBeUndefined();
  });
});

describe('a client is forgotten', () => {
  it('where no login of its issuer is left, or there never was one', async () => {
    const { as, store, credential } = await setUp();
    await store.saveRegistration(testRegistration({ issuer: 'https://never.example', clientId: 'denied' }));
    expect(await forgetClients(store)).toEqual([{ issuer: 'https://never.example', clientId: 'denied' }]);
    expect(await store.findRegistration(as.origin)).toBeDefined();
    await store.forgetCredential(credential);
    expect(await forgetClients(store)).toEqual([{ issuer: as.origin, clientId: 'client' }]);
    expect(await store.listRegistrations()).toEqual([]);
  });
});
