import { describe, expect, it } from 'vitest';
import { createMemoryStore, freshCredential, refreshAheadSeconds } from '../../../src/client/index.ts';
import { startOfTime, testContext } from '../support/context.ts';
import { testCredential, testRegistration } from '../support/credentials.ts';
import { startAuthorizationServer } from '../support/protected-server.ts';

const server = 'https://mcp.example/mcp';

async function setUp(overrides: Parameters<typeof testCredential>[0] = {}) {
  const as = await startAuthorizationServer();
  as.refreshTokens.add('rt');
  const context = testContext();
  const store = createMemoryStore();
  const credential = testCredential({ issuer: as.origin, ...overrides });
  await store.saveRegistration(testRegistration({ issuer: as.origin }));
  await store.saveCredential(server, credential);
  const redeemed = () =>
    as.requests
      .filter(({ path }) => path === '/token')
      .map(({ body }) => Object.fromEntries(new URLSearchParams(body)));
  return { as, context, store, credential, redeemed };
}

describe('a credential', () => {
  it('is used as it is while it has more than 60 s left', async () => {
    const { context, store, credential, redeemed } = await setUp();
    context.clock.seconds = startOfTime + 3600 - refreshAheadSeconds - 1;
    expect(await freshCredential(context, store, server)).toEqual(credential);
    expect(redeemed()).toEqual([]);
  });

  it('is refreshed 60 s before its end, with the resource, and kept (A9-05, A7-01)', async () => {
    const { context, store, redeemed, as } = await setUp();
    context.clock.seconds = startOfTime + 3600 - refreshAheadSeconds;
    const fresh = await freshCredential(context, store, server);
    expect(redeemed()).toEqual([
      {
        grant_type: 'refresh_token',
        refresh_token: 'rt',
        client_id: 'client',
        resource: 'https://mcp.example/mcp',
      },
    ]);
    expect(fresh).toMatchObject({ scopes: ['read'], expiresAt: context.clock.seconds + 3600 });
    expect(as.accessTokens.has(fresh?.accessToken ?? '')).toBe(true);
    expect(await store.findCredential(server)).toEqual(fresh);
  });

  it('with a short life is refreshed in the middle of it, not at every request (A9-05)', async () => {
    const { as, context, store, redeemed } = await setUp();
    as.expiresInSeconds = 30;
    const short = await freshCredential(context, store, server, 'at');
    context.clock.seconds += 14;
    expect(await freshCredential(context, store, server)).toEqual(short);
    context.clock.seconds += 1;
    expect((await freshCredential(context, store, server))?.accessToken).not.toBe(short?.accessToken);
    expect(redeemed()).toHaveLength(2);
  });

  it('that is refused gives way to the login the user made meanwhile (CL-1)', async () => {
    const { as, context, store, credential } = await setUp();
    const newer = { ...credential, accessToken: 'newer', refreshToken: 'newer' };
    as.routes['POST /token'] = () => {
      void store.saveCredential(server, newer);
      return { status: 400, json: { error: 'invalid_grant' } };
    };
    expect(await freshCredential(context, store, server, 'at')).toEqual(newer);
    expect(await store.findCredential(server)).toEqual(newer);
  });

  it('that is renewed does not take the place of the login the user made meanwhile (CL-1)', async () => {
    const { as, context, store, credential } = await setUp();
    const elsewhere = testCredential({ issuer: 'https://other.example', accessToken: 'elsewhere' });
    for (const newer of [{ ...credential, accessToken: 'newer', refreshToken: 'newer' }, elsewhere]) {
      await store.saveCredential(server, credential);
      as.routes['POST /token'] = () => {
        void store.saveCredential(server, newer);
        return { json: { access_token: 'renewed', token_type: 'Bearer' } };
      };
      expect(await freshCredential(context, store, server, 'at')).toEqual(newer);
      expect(await store.findCredential(server)).toEqual(newer);
    }
  });

  it('that never said when it ends is used until it is rejected (A9-05)', async () => {
    const { context, store, credential, redeemed } = await setUp({ expiresAt: undefined });
    context.clock.seconds += 10 * 365 * 86_400;
    expect(await freshCredential(context, store, server)).toEqual(credential);
    expect((await freshCredential(context, store, server, 'at'))?.accessToken).not.toBe('at');
    expect(redeemed()).toHaveLength(1);
  });

  it('is refreshed once, however many ask at the same time (A9-05, T-188)', async () => {
    const { context, store, redeemed } = await setUp();
    const all = await Promise.all(
      Array.from({ length: 12 }, () => freshCredential(context, store, server, 'at')),
    );
    expect(new Set(all.map((one) => one?.accessToken)).size).toBe(1);
    expect(redeemed()).toHaveLength(1);
  });

  it('that another process renewed meanwhile is taken over (T-188)', async () => {
    const { context, store, credential, redeemed } = await setUp();
    const find = store.findCredential;
    let asked = 0;
    store.findCredential = async (key) => {
      if (++asked === 2) await store.saveCredential(server, { ...credential, accessToken: 'theirs' });
      return find(key);
    };
    expect((await freshCredential(context, store, server, 'at'))?.accessToken).toBe('theirs');
    expect(redeemed()).toEqual([]);
  });

  it('keeps its refresh token where the answer has none (A9-05)', async () => {
    const { as, context, store } = await setUp();
    as.issuesRefreshTokens = false;
    const fresh = await freshCredential(context, store, server, 'at');
    expect(fresh?.refreshToken).toBe('rt');
    expect(fresh?.accessToken).not.toBe('at');
  });

  it('whose refresh token is dead is forgotten, and a login is needed (A9-05)', async () => {
    const { as, context, store } = await setUp();
    as.refreshTokens.clear();
    await expect(freshCredential(context, store, server, 'at')).rejects.toMatchObject({
      reason: 'login_required',
      server,
    });
    expect(await store.findCredential(server)).toBeUndefined();
    expect(await store.findFormerLogin(server)).toEqual({ issuer: as.origin, chosen: {} });
    expect(await store.findRegistration(as.origin)).toBeDefined();
  });

  it('whose client is unknown is forgotten together with the registration', async () => {
    const { as, context, store } = await setUp();
    as.routes['POST /token'] = {
      status: 401,
      headers: { 'www-authenticate': 'Basic realm="as"' },
      json: { error: 'invalid_client' },
    };
    await expect(freshCredential(context, store, server, 'at')).rejects.toMatchObject({
      reason: 'login_required',
    });
    expect(await store.findCredential(server)).toBeUndefined();
    expect(await store.findRegistration(as.origin)).toBeUndefined();
  });

  it('whose client is refused stays where the client was given, and where it is not here any more', async () => {
    const { as, context, store, credential } = await setUp();
    const given = testRegistration({ issuer: as.origin, clientSecret: 'own', source: 'given' });
    await store.saveRegistration(given);
    const sent = { url: 'https://mcp.example/second', resource: 'https://mcp.example/second' };
    await store.saveCredential(sent.url, { ...credential, resource: sent.resource });
    as.routes['POST /token'] = { status: 401, json: { error: 'invalid_client' } };
    await expect(freshCredential(context, store, server, 'at')).rejects.toMatchObject({
      reason: 'login_required',
    });
    expect(await store.findRegistration(as.origin)).toEqual(given);
    await store.forgetRegistration(as.origin, given.clientId);
    await expect(freshCredential(context, store, sent.url, 'at')).rejects.toMatchObject({
      reason: 'login_required',
    });
    expect(await store.findCredential(sent.url)).toBeDefined();
  });

  it('is not ended by a challenge without a reason, as of a proxy in between', async () => {
    const { as, context, store, credential } = await setUp();
    as.routes['POST /token'] = {
      status: 401,
      headers: { 'www-authenticate': 'Basic realm="proxy"' },
      text: '',
    };
    await expect(freshCredential(context, store, server, 'at')).rejects.toMatchObject({
      reason: 'login_required',
    });
    expect(await store.findCredential(server)).toEqual(credential);
  });

  it('survives a failing authorization server: it is used to its end, and never forgotten', async () => {
    const { as, context, store, credential } = await setUp();
    as.routes['POST /token'] = { status: 503, text: '' };
    context.clock.seconds = startOfTime + 3590;
    expect(await freshCredential(context, store, server)).toEqual(credential);
    context.clock.seconds = startOfTime + 3601;
    await expect(freshCredential(context, store, server)).rejects.toMatchObject({ reason: 'token_refused' });
    expect(await store.findCredential(server)).toEqual(credential);
  });

  it('without a refresh token is used to its end, then a login is needed (A9-02)', async () => {
    const { context, store, credential, redeemed } = await setUp({ refreshToken: undefined });
    context.clock.seconds = startOfTime + 3590;
    expect(await freshCredential(context, store, server)).toEqual(credential);
    context.clock.seconds = startOfTime + 3600;
    await expect(freshCredential(context, store, server)).rejects.toMatchObject({ reason: 'login_required' });
    expect(redeemed()).toEqual([]);
  });

  it('is refreshed with the client it was issued to, also where the next login has another (A5-10)', async () => {
    const { as, context, store } = await setUp();
    await store.saveRegistration(testRegistration({ issuer: as.origin, clientSecret: 'own' }));
    const newer = testRegistration({ issuer: as.origin, clientId: 'newer', clientSecret: 'of another' });
    await store.saveRegistration(newer);
    expect((await freshCredential(context, store, server, 'at'))?.clientId).toBe('client');
    expect(as.requests.map(({ headers }) => headers.authorization)).toEqual([`Basic ${btoa('client:own')}`]);
    expect(await store.findRegistration(as.origin)).toEqual(newer);
  });

  it('of a client whose registration is not here is refreshed with its id alone (A5-10)', async () => {
    const { as, context, store, redeemed } = await setUp();
    await store.forgetRegistration(as.origin, 'client');
    await store.saveRegistration(
      testRegistration({ issuer: as.origin, clientId: 'newer', clientSecret: 'of another' }),
    );
    await freshCredential(context, store, server, 'at');
    expect(redeemed()).toMatchObject([{ client_id: 'client' }]);
    expect(as.requests[0]?.headers.authorization).toBeUndefined();
  });

  it('of a workload that has ended says whose it was, for only its identity brings another (A13-10)', async () => {
    const { context, store } = await setUp({ refreshToken: undefined, workload: true });
    context.clock.seconds = startOfTime + 3600;
    await expect(freshCredential(context, store, server)).rejects.toMatchObject({
      before: { machine: { grant: 'workload_identity', proof: 'assertion' } },
    });
    const refused = await setUp({ workload: true });
    refused.as.refreshTokens.clear();
    await expect(freshCredential(refused.context, refused.store, server, 'at')).rejects.toMatchObject({
      before: { machine: { grant: 'workload_identity', proof: 'assertion' } },
    });
  });

  it('that has ended says what was chosen at it, for the login in its place', async () => {
    const chosen = { dpopKey: { kty: 'EC' }, withoutResource: true } as const;
    const { context, store } = await setUp({ refreshToken: undefined, ...chosen });
    context.clock.seconds = startOfTime + 3600;
    await expect(freshCredential(context, store, server)).rejects.toMatchObject({
      before: { chosen: { dpop: true, withoutResource: true } },
    });
    const refused = await setUp({ withoutResource: true });
    refused.as.refreshTokens.clear();
    await expect(freshCredential(refused.context, refused.store, server, 'at')).rejects.toMatchObject({
      before: { chosen: { withoutResource: true } },
    });
  });

  it('that another process found ended meanwhile says what was chosen at it as well', async () => {
    const { context, store, credential } = await setUp({ withoutResource: true });
    const find = store.findCredential;
    let asked = 0;
    store.findCredential = async (key) => {
      if (++asked === 2) await store.endCredential(credential);
      return find(key);
    };
    await expect(freshCredential(context, store, server, 'at')).rejects.toMatchObject({
      reason: 'login_required',
      before: { chosen: { withoutResource: true } },
    });
  });

  it('that does not exist is none', async () => {
    const { context, store } = await setUp();
    expect(await freshCredential(context, store, 'https://other.example')).toBeUndefined();
  });
});
