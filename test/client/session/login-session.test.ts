import { describe, expect, it } from 'vitest';
import {
  type AuthorizationNeed,
  type Authorizer,
  ClientError,
  type Credential,
  createMemoryStore,
  withAuthorization,
} from '../../../src/client/index.ts';
import { createTokenFile } from '../../../src/client/node/index.ts';
import { authorizeOnce } from '../../../src/client/session/login-session.ts';
import { startOfTime, testContext } from '../support/context.ts';
import { testCredential, testRegistration } from '../support/credentials.ts';
import { testFolder } from '../support/folder.ts';
import { startAuthorizationServer, startMcpServer } from '../support/protected-server.ts';

const message = (method: string, params: object = {}) => ({
  method: 'POST',
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
});
const list = message('tools/list');
const call = (name: string) => message('tools/call', { name });

/** A server, and an authorizer that issues a token at each call: `new-1`, `new-2`. */
async function setUp() {
  const as = await startAuthorizationServer();
  const mcp = await startMcpServer(as, { call: () => ({ content: [] }) });
  const context = testContext();
  const store = createMemoryStore();
  const needs: AuthorizationNeed[] = [];
  const issued: { scopes: (need: AuthorizationNeed) => string[]; isGood: boolean; expiresIn: number } = {
    scopes: ({ scopes }) => [...(scopes ?? ['read'])],
    isGood: true,
    expiresIn: 3600,
  };
  const authorizer: Authorizer = async (need) => {
    needs.push(need);
    const accessToken = `new-${needs.length}`;
    if (issued.isGood) as.accessTokens.add(accessToken);
    const credential = testCredential({
      issuer: as.origin,
      resource: mcp.url,
      accessToken,
      refreshToken: undefined,
      expiresAt: context.clock.seconds + issued.expiresIn,
      scopes: issued.scopes(need),
    });
    await store.saveCredential(mcp.url, credential);
    return credential;
  };
  const send = withAuthorization(context, mcp.url, store, { authorizer });
  const sent = () => mcp.requests.map(({ headers }) => headers.authorization);
  const logIn = async (overrides: Parameters<typeof testCredential>[0] = {}) => {
    as.accessTokens.add('at');
    as.refreshTokens.add('rt');
    await store.saveRegistration(testRegistration({ issuer: as.origin }));
    await store.saveCredential(
      mcp.url,
      testCredential({ issuer: as.origin, resource: mcp.url, ...overrides }),
    );
  };
  const refuseScope = (scope: string | (() => string)): void => {
    mcp.routes['POST /mcp'] = () => ({
      status: 403,
      headers: {
        'www-authenticate': `Bearer error="insufficient_scope", scope="${typeof scope === 'string' ? scope : scope()}"`,
      },
      text: '',
    });
  };
  const refuseAll = (): void => {
    mcp.routes['POST /mcp'] = {
      status: 401,
      headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
      text: '',
    };
  };
  return { as, mcp, context, store, needs, issued, send, sent, logIn, refuseScope, refuseAll };
}

describe('a session without a login', () => {
  it('sends a request without a token first, then logs in and repeats it', async () => {
    const { mcp, send, sent, needs } = await setUp();
    expect((await send(mcp.url, list)).status).toBe(200);
    expect(sent()).toEqual([undefined, 'Bearer new-1']);
    expect(needs).toEqual([
      {
        server: mcp.url,
        why: 'no_credential',
        challenge: expect.stringContaining('resource_metadata='),
      },
    ]);
  });

  it('logs in once for all requests that wait (T-186)', async () => {
    const { mcp, send, needs } = await setUp();
    const answers = await Promise.all(Array.from({ length: 8 }, () => send(mcp.url, list)));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(needs).toHaveLength(1);
  });

  it('does not log in where the server answers without', async () => {
    const { mcp, send, needs } = await setUp();
    mcp.routes['POST /mcp'] = { json: {} };
    expect((await send(mcp.url, list)).status).toBe(200);
    expect(needs).toEqual([]);
  });

  it('logs in, but does not repeat a body that can be read only once', async () => {
    const { mcp, send, needs } = await setUp();
    const body = new Blob(['{}']).stream();
    await expect(
      send(mcp.url, { method: 'POST', body, duplex: 'half' } as RequestInit),
    ).rejects.toMatchObject({ reason: 'login_required', message: expect.stringContaining('Repeat it') });
    expect(needs).toHaveLength(1);
    expect(mcp.requests).toHaveLength(1);
  });

  it('says no more than three times that nobody logs in (A8-08, T-186)', async () => {
    const { mcp, context, store } = await setUp();
    let calls = 0;
    const authorizer: Authorizer = async () => {
      calls++;
      throw new ClientError('authorization_denied', 'No.');
    };
    const send = withAuthorization(context, mcp.url, store, { authorizer });
    const reasons: string[] = [];
    for (let attempt = 0; attempt < 5; attempt++)
      await send(mcp.url, list).catch((error: ClientError) => reasons.push(error.reason));
    expect(calls).toBe(3);
    expect(reasons).toEqual([...Array(3).fill('authorization_denied'), ...Array(2).fill('login_required')]);
  });
});

describe('a session whose token is rejected', () => {
  it('renews it before it asks for a login (A9-05)', async () => {
    const { as, mcp, send, needs, logIn } = await setUp();
    await logIn();
    as.accessTokens.clear();
    expect((await send(mcp.url, list)).status).toBe(200);
    expect(needs).toEqual([]);
    expect(as.asked()).toEqual(['POST /token']);
  });

  it('asks for a login where it cannot be renewed', async () => {
    const { as, mcp, send, needs, logIn } = await setUp();
    await logIn({ refreshToken: undefined });
    as.accessTokens.clear();
    expect((await send(mcp.url, list)).status).toBe(200);
    expect(needs.map(({ why }) => why)).toEqual(['rejected']);
  });

  it('asks for all scopes it had, also those of a step-up, whichever way it is lost (A8-07)', async () => {
    const scopes = ['read', 'write'];
    const rejected = await setUp();
    await rejected.logIn({ scopes });
    rejected.as.accessTokens.clear();
    rejected.as.refreshTokens.clear();
    await rejected.send(rejected.mcp.url, list);
    expect(rejected.needs).toMatchObject([{ why: 'rejected', scopes }]);
    const ended = await setUp();
    await ended.logIn({ scopes, refreshToken: undefined });
    ended.context.clock.seconds += 3600;
    await ended.send(ended.mcp.url, list);
    expect(ended.needs).toMatchObject([{ why: 'no_credential', scopes }]);
  });

  it('asks for a login where the authorization server has ended it', async () => {
    const { as, mcp, send, needs, logIn } = await setUp();
    await logIn();
    as.accessTokens.clear();
    as.refreshTokens.clear();
    expect((await send(mcp.url, list)).status).toBe(200);
    expect(needs.map(({ why }) => why)).toEqual(['rejected']);
  });

  it('asks for a login like the one before, however it ended and whoever found out (A13-11)', async () => {
    const scopes = ['read', 'write'];
    const before = { withoutResource: true, scopes } as const;
    const like = { before: { chosen: { withoutResource: true } } };
    const rejected = await setUp();
    await rejected.logIn(before);
    rejected.as.accessTokens.clear();
    rejected.as.refreshTokens.clear();
    await rejected.send(rejected.mcp.url, list);
    expect(rejected.needs).toMatchObject([{ why: 'rejected', scopes, ...like }]);
    const ended = await setUp();
    await ended.logIn(before);
    ended.as.refreshTokens.clear();
    ended.context.clock.seconds += 3600;
    await ended.send(ended.mcp.url, list);
    expect(ended.needs).toMatchObject([{ why: 'no_credential', ...like }]);
    const later = await setUp();
    await later.logIn(before);
    const kept = await later.store.findCredential(later.mcp.url);
    if (kept !== undefined) await later.store.endCredential(kept);
    await later.send(later.mcp.url, list);
    expect(later.needs).toMatchObject([{ why: 'no_credential', ...like }]);
  });

  it('without anybody to ask says what was chosen at it, also the next time', async () => {
    const { as, mcp, context, store, logIn } = await setUp();
    await logIn({ withoutResource: true });
    as.accessTokens.clear();
    as.refreshTokens.clear();
    for (let command = 1; command <= 2; command++)
      await expect(withAuthorization(context, mcp.url, store)(mcp.url, list)).rejects.toMatchObject({
        reason: 'login_required',
        before: { chosen: { withoutResource: true } },
      });
  });

  it('says what was chosen at it where logins do not help, or the request cannot be sent twice', async () => {
    const { as, mcp, context, store, logIn } = await setUp();
    const refusal = { reason: 'login_required', before: { chosen: { withoutResource: true } } };
    await logIn({ withoutResource: true });
    as.accessTokens.clear();
    const body = new Blob(['{}']).stream();
    const once = { method: 'POST', body, duplex: 'half' } as RequestInit;
    await expect(withAuthorization(context, mcp.url, store)(mcp.url, once)).rejects.toMatchObject(refusal);
    as.accessTokens.clear();
    as.refreshTokens.clear();
    const authorizer: Authorizer = () => Promise.reject(new ClientError('authorization_denied', 'No.'));
    const send = withAuthorization(context, mcp.url, store, { authorizer });
    for (let attempt = 0; attempt < 3; attempt++)
      await expect(send(mcp.url, list)).rejects.toMatchObject({ reason: 'authorization_denied' });
    await expect(send(mcp.url, list)).rejects.toMatchObject(refusal);
  });

  it('gives up where the token of a new login is rejected, and tries again after a minute (T-186)', async () => {
    const { mcp, context, send, needs, refuseAll } = await setUp();
    const answer = mcp.routes['POST /mcp'] ?? {};
    refuseAll();
    for (let attempt = 0; attempt < 4; attempt++)
      await expect(send(mcp.url, list)).rejects.toMatchObject({ reason: 'login_required' });
    expect(needs).toHaveLength(1);
    expect(mcp.requests).toHaveLength(2);
    context.clock.seconds += 60;
    mcp.routes['POST /mcp'] = answer;
    expect((await send(mcp.url, list)).status).toBe(200);
  });

  it('stops, with a diagnosis, where the server soon rejects whatever it has just taken (T-186)', async () => {
    const { as, mcp, context, store, logIn } = await setUp();
    await logIn();
    const send = withAuthorization(context, mcp.url, store);
    const failures: string[] = [];
    for (let request = 0; request < 20; request++) {
      as.accessTokens.clear();
      await send(mcp.url, list).catch((error: Error) => failures.push(error.message));
    }
    expect(as.asked().length).toBeLessThanOrEqual(4);
    expect(failures.length).toBeGreaterThan(15);
    expect(failures.at(-1)).toContain(`audience is not ${mcp.url}`);
    const before = mcp.requests.length;
    await expect(send(mcp.url, list)).rejects.toThrow('audience is not');
    expect(mcp.requests).toHaveLength(before);
    context.clock.seconds += 60;
    expect((await send(mcp.url, list)).status).toBe(200);
  });

  it('logs in as often as tokens end by themselves', async () => {
    const { as, mcp, context, send, needs, issued } = await setUp();
    issued.expiresIn = 10;
    for (let login = 1; login <= 6; login++) {
      expect((await send(mcp.url, list)).status).toBe(200);
      context.clock.seconds += 11;
      as.accessTokens.clear();
    }
    expect(needs).toHaveLength(6);
  });
});

describe('a session whose token allows too little', () => {
  it('asks for all scopes held and required, and repeats the request (A8-07)', async () => {
    const { mcp, send, sent, needs, logIn, refuseScope } = await setUp();
    await logIn();
    const answer = mcp.routes['POST /mcp'];
    refuseScope('write');
    const once = mcp.routes['POST /mcp'];
    mcp.routes['POST /mcp'] = (request) => {
      const route = request.headers.authorization === 'Bearer at' ? once : answer;
      return typeof route === 'function' ? route(request) : {};
    };
    expect((await send(mcp.url, call('save'))).status).toBe(200);
    expect(needs).toMatchObject([
      { why: 'insufficient_scope', scopes: ['read', 'write'], challenge: expect.stringContaining('write') },
    ]);
    expect(sent()).toEqual(['Bearer at', 'Bearer new-1']);
  });

  it('asks three times at most, however many scopes the server names one after the other (A8-08, T-186)', async () => {
    const { mcp, send, needs, logIn, refuseScope } = await setUp();
    await logIn();
    let asked = 0;
    refuseScope(() => `scope-${++asked}`);
    await expect(send(mcp.url, call('save'))).rejects.toMatchObject({ reason: 'insufficient_scope' });
    expect(needs.map(({ scopes }) => scopes?.length)).toEqual([2, 3, 4]);
    expect(mcp.requests).toHaveLength(4);
  });

  it('asks again later, where asking has helped for a while', async () => {
    const { as, mcp, context, send, needs, logIn, issued } = await setUp();
    const answer = mcp.routes['POST /mcp'];
    await logIn();
    const demand = (): void => {
      let isFirst = true;
      mcp.routes['POST /mcp'] = (request) => {
        if (!isFirst) return typeof answer === 'function' ? answer(request) : {};
        isFirst = false;
        const challenge = `Bearer error="insufficient_scope", scope="scope-${needs.length}"`;
        return { status: 403, headers: { 'www-authenticate': challenge }, text: '' };
      };
    };
    issued.expiresIn = 86_400;
    for (let round = 1; round <= 5; round++) {
      demand();
      expect((await send(mcp.url, call('save'))).status).toBe(200);
      context.clock.seconds += 60;
      expect((await send(mcp.url, call('save'))).status).toBe(200);
    }
    expect(needs).toHaveLength(5);
    expect(as.requests).toEqual([]);
  });

  it('takes a 401 for scopes as what it is (A8-07)', async () => {
    const { as, mcp, send, needs, logIn } = await setUp();
    await logIn();
    const answer = mcp.routes['POST /mcp'];
    mcp.routes['POST /mcp'] = (request) => {
      if (request.headers.authorization !== 'Bearer at')
        return typeof answer === 'function' ? answer(request) : {};
      const challenge = 'Bearer error="insufficient_scope", scope="write"';
      return { status: 401, headers: { 'www-authenticate': challenge }, text: '' };
    };
    expect((await send(mcp.url, call('save'))).status).toBe(200);
    expect(needs.map(({ why }) => why)).toEqual(['insufficient_scope']);
    expect(as.requests).toEqual([]);
  });

  it('does not ask for scopes that it holds already (A8-08)', async () => {
    const { mcp, send, needs, logIn, refuseScope } = await setUp();
    await logIn({ scopes: ['write'] });
    refuseScope('write');
    await expect(send(mcp.url, call('save'))).rejects.toMatchObject({ missing: [] });
    expect(needs).toEqual([]);
  });

  it('remembers which operation asked in vain, and does not ask for it again (A8-08)', async () => {
    const { mcp, send, needs, issued, logIn, refuseScope } = await setUp();
    await logIn();
    issued.scopes = () => ['read'];
    refuseScope('admin');
    for (let attempt = 0; attempt < 3; attempt++)
      await expect(send(mcp.url, call('save'))).rejects.toMatchObject({ missing: ['admin'] });
    expect(needs).toHaveLength(1);
    await expect(send(mcp.url, call('other'))).rejects.toMatchObject({ missing: ['admin'] });
    expect(needs).toHaveLength(2);
  });

  it('does not send what was refused five times within a minute, other operations it does (T-186)', async () => {
    const { mcp, context, store, logIn, refuseScope } = await setUp();
    await logIn();
    const send = withAuthorization(context, mcp.url, store);
    refuseScope('admin');
    for (let attempt = 0; attempt < 10; attempt++)
      await expect(send(mcp.url, call('save'))).rejects.toMatchObject({ required: ['admin'] });
    expect(mcp.requests).toHaveLength(5);
    await expect(send(mcp.url, call('other'))).rejects.toMatchObject({ required: ['admin'] });
    expect(mcp.requests).toHaveLength(6);
    context.clock.seconds += 60;
    await expect(send(mcp.url, call('save'))).rejects.toMatchObject({ required: ['admin'] });
    expect(mcp.requests).toHaveLength(7);
  });
});

describe('authorize once', () => {
  const server = 'https://mcp.example/mcp';
  const need: AuthorizationNeed = { server, why: 'rejected', challenge: null };
  const now = () => startOfTime;

  function setUp(credential: Credential = testCredential({ accessToken: 'new' })) {
    const store = createMemoryStore();
    let calls = 0;
    const authorizer: Authorizer = async () => {
      calls++;
      await new Promise((resolve) => setImmediate(resolve));
      await store.saveCredential(server, credential);
      return credential;
    };
    return { store, authorizer, calls: () => calls };
  }

  describe('an authorization', () => {
    it('runs once for all that wait for the same (T-186)', async () => {
      const { store, authorizer, calls } = setUp();
      const waiting = Array.from({ length: 10 }, () =>
        authorizeOnce(store, need, undefined, authorizer, now),
      );
      expect((await Promise.all(waiting)).map(({ accessToken }) => accessToken)).toEqual(
        Array(10).fill('new'),
      );
      expect(calls()).toBe(1);
    });

    it('fails once for all that wait for the same, and may be tried again', async () => {
      const { store, authorizer } = setUp();
      let calls = 0;
      const denied: Authorizer = async () => {
        calls++;
        throw new Error('denied');
      };
      const waiting = Array.from({ length: 3 }, () => authorizeOnce(store, need, undefined, denied, now));
      const outcomes = await Promise.allSettled(waiting);
      expect(outcomes.map(({ status }) => status)).toEqual(Array(3).fill('rejected'));
      expect(calls).toBe(1);
      expect((await authorizeOnce(store, need, undefined, authorizer, now)).accessToken).toBe('new');
    });

    it('is not run where another credential than the one used has come meanwhile', async () => {
      const { store, authorizer, calls } = setUp();
      const used = testCredential({ accessToken: 'old' });
      await store.saveCredential(server, testCredential({ accessToken: 'theirs' }));
      expect((await authorizeOnce(store, need, used, authorizer, now)).accessToken).toBe('theirs');
      expect(calls()).toBe(0);
    });

    it.each([
      ['is the one used', { accessToken: 'old' }],
      ['has ended', { accessToken: 'theirs', expiresAt: startOfTime }],
      ['allows too little', { accessToken: 'theirs', scopes: ['read'] }],
    ])('is run where the credential at hand %s', async (_, held) => {
      const { store, authorizer, calls } = setUp();
      const used = testCredential({ accessToken: 'old' });
      await store.saveCredential(server, testCredential(held));
      await authorizeOnce(store, { ...need, scopes: ['read', 'write'] }, used, authorizer, now);
      expect(calls()).toBe(1);
    });

    it('is not run by two at the same time, and the second keeps the scopes that the first got (A8-07)', async () => {
      const { store } = setUp();
      const asked: unknown[] = [];
      let running = 0;
      let most = 0;
      const authorizer: Authorizer = async ({ scopes }) => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        asked.push(scopes);
        const credential = testCredential({ accessToken: `${asked.length}`, scopes: [...(scopes ?? [])] });
        await store.saveCredential(server, credential);
        return credential;
      };
      await Promise.all(
        ['read', 'write'].map((scope) =>
          authorizeOnce(store, { ...need, scopes: [scope] }, undefined, authorizer, now),
        ),
      );
      expect(most).toBe(1);
      expect(asked).toEqual([['read'], ['read', 'write']]);
    });

    it('runs once for two programs on one token file: the second takes what the first got (T-188)', async () => {
      const folder = testFolder();
      let calls = 0;
      const logIn = () => {
        const store = createTokenFile(folder);
        const authorizer: Authorizer = async () => {
          calls++;
          await new Promise((resolve) => setTimeout(resolve, 50));
          const credential = testCredential({ accessToken: `new-${calls}` });
          await store.saveCredential(server, credential);
          return credential;
        };
        return authorizeOnce(store, need, undefined, authorizer, now);
      };
      const credentials = await Promise.all([logIn(), logIn()]);
      expect(credentials.map(({ accessToken }) => accessToken)).toEqual(['new-1', 'new-1']);
    });
  });
});
