import { describe, expect, it } from 'vitest';
import {
  type AuthorizationNeed,
  type Authorizer,
  type Credential,
  createMemoryStore,
} from '../../../src/client/index.ts';
import { createTokenFile } from '../../../src/client/node/index.ts';
import { authorizeOnce } from '../../../src/client/session/authorize-once.ts';
import { startOfTime } from '../support/context.ts';
import { testCredential } from '../support/credentials.ts';
import { testFolder } from '../support/folder.ts';

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
    const waiting = Array.from({ length: 10 }, () => authorizeOnce(store, need, undefined, authorizer, now));
    expect((await Promise.all(waiting)).map(({ accessToken }) => accessToken)).toEqual(Array(10).fill('new'));
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
