import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAccessTokenSource } from '../../src/authorization-server/access-tokens.ts';
import type { AuthInfo } from '../../src/oauth/auth-info.ts';
import { type AccessWatchOptions, createAccessWatch } from '../../src/resource-server/access-watch.ts';
import { createLocalVerifier } from '../../src/resource-server/token-verifier.ts';
import { startAdapters } from '../authorization-server/storage-subject.ts';
import { patience } from '../support/patience.ts';

const caller: AuthInfo = {
  issuer: 'https://as.example.com',
  subject: 'ada',
  clientId: 'c',
  scopes: [],
  audience: 'https://x.example/mcp',
  expiresAt: 2000,
  tokenId: 'token',
};

/** A watch over tokens that a test takes away, every 5 ms unless told. */
function startWatch(options: Partial<AccessWatchOptions> = {}) {
  const standing = new Set(['token', 'other']);
  const asked: (readonly string[])[] = [];
  const warnings: unknown[] = [];
  const clock = { now: 1000 };
  const revocations = { count: 0 };
  const watch = createAccessWatch({
    source: {
      async standing(ids) {
        asked.push(ids);
        return ids.filter((id) => standing.has(id));
      },
      revocationMark: async () => revocations.count,
    },
    now: () => clock.now,
    logger: { warn: (...line: unknown[]) => void warnings.push(line) },
    intervalMs: 5,
    ...options,
  });
  onTestFinished(() => watch.close());
  const revoke = (...ids: string[]): void => {
    for (const id of ids) standing.delete(id);
    revocations.count++;
  };
  return { watch, standing, asked, warnings, clock, revoke };
}

/** Waits until something holds; fails after a second. */
async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 200 && !holds(); tries++) await pause(5);
  expect(holds()).toBe(true);
}

describe('the watch over open streams', () => {
  it('tells within a second that a token was revoked, in the database of a real installation (A12-04, T-103)', async () => {
    const { storage, box, adapter, clock } = await startAdapters();
    const source = createAccessTokenSource(storage, box, {
      issuer: 'https://as.example.com',
      signing: [],
    });
    for (const name of ['g', 'h']) {
      await adapter('Grant').upsert(name, { accountId: 'ada', clientId: 'c' }, 600);
      const payload = {
        clientId: 'c',
        accountId: 'ada',
        aud: 'x',
        iat: clock.now,
        exp: clock.now + 600,
        grantId: name,
      };
      await adapter('AccessToken').upsert(`token of ${name}`, payload, 600);
    }
    const now = () => clock.now;
    const verifier = createLocalVerifier({ source, issuer: 'https://as.example.com', now });
    const { watch } = startWatch({ source, now, intervalMs: 500 });
    const ended: string[] = [];
    for (const name of ['g', 'h']) {
      const authInfo = await verifier.verify(`token of ${name}`);
      expect(authInfo?.tokenId).toMatch(/^[\w-]{43}$/);
      if (authInfo) watch.watch(authInfo, () => ended.push(name));
    }
    const revokedAt = performance.now();
    await adapter('Grant').destroy('g');
    await until(() => ended.length > 0);
    expect(performance.now() - revokedAt).toBeLessThan(patience(1000));
    expect(ended).toEqual(['g']);
  });

  it('tells each stream of a token once, and nobody else', async () => {
    const { watch, revoke } = startWatch();
    const ended: string[] = [];
    watch.watch(caller, () => ended.push('first'));
    watch.watch(caller, () => ended.push('second'));
    watch.watch({ ...caller, tokenId: 'other' }, () => ended.push('other'));
    revoke('token');
    await until(() => ended.length > 0);
    await pause(20);
    expect(ended).toEqual(['first', 'second']);
  });

  it('tells that a token expired, one of another issuer too (A12-04)', async () => {
    const { watch, clock } = startWatch();
    const { tokenId, ...foreign } = caller;
    const ended: string[] = [];
    watch.watch(caller, () => ended.push('ours'));
    watch.watch(foreign, () => ended.push('foreign'));
    watch.watch({ ...caller, expiresAt: 2001 }, () => ended.push('later'));
    clock.now = 1999;
    await pause(20);
    expect(ended).toEqual([]);
    clock.now = 2000;
    await until(() => ended.length > 0);
    expect(ended).toEqual(['ours', 'foreign']);
  });

  it('gives a caller time to renew an expired token, and none once the token is revoked (A12-04)', async () => {
    const { watch, clock, revoke } = startWatch();
    const told: string[] = [];
    const renewal = (name: string) => ({ seconds: 300, onExpiry: () => void told.push(`${name} expired`) });
    watch.watch(caller, () => told.push('first ended'), renewal('first'));
    watch.watch({ ...caller, tokenId: 'other' }, () => told.push('other ended'), renewal('other'));
    clock.now = 2000;
    await until(() => told.length > 1);
    revoke('token');
    await until(() => told.length > 2);
    clock.now = 2299;
    await pause(20);
    expect(told).toEqual(['first expired', 'other expired', 'first ended']);
    clock.now = 2300;
    await until(() => told.length > 3);
    expect(told.at(-1)).toBe('other ended');
  });

  it('asks for a token once, whatever the number of its streams, and again when one was revoked', async () => {
    const { watch, asked, revoke } = startWatch();
    for (let index = 0; index < 50; index++) watch.watch(caller, () => undefined);
    await until(() => asked.length > 0);
    await pause(30);
    expect(asked).toEqual([['token']]);
    revoke('another');
    await until(() => asked.length > 1);
    await pause(30);
    expect(asked).toEqual([['token'], ['token']]);
  });

  it('finds a token that was revoked between its check and the opening of its stream', async () => {
    const { watch, revoke } = startWatch();
    watch.watch({ ...caller, tokenId: 'other' }, () => undefined);
    revoke('token');
    await pause(30);
    let ended = 0;
    watch.watch(caller, () => ended++);
    await until(() => ended === 1);
  });

  it('asks for nothing while no stream is open', async () => {
    const { watch, asked, revoke } = startWatch();
    watch.watch(caller, () => undefined)();
    await pause(30);
    revoke('other');
    await pause(30);
    expect(asked).toEqual([]);
  });

  it('leaves alone a stream that was closed, while the answer was under way too', async () => {
    let answer: (ids: string[]) => void = () => undefined;
    const asked = { times: 0 };
    const { watch } = startWatch({
      source: {
        standing() {
          asked.times++;
          return new Promise((resolve) => {
            answer = resolve;
          });
        },
        revocationMark: async () => 1,
      },
    });
    const ended: string[] = [];
    const stop = watch.watch(caller, () => ended.push('closed'));
    watch.watch(caller, () => ended.push('open'));
    await until(() => asked.times === 1);
    stop();
    answer([]);
    await until(() => ended.length > 0);
    expect(ended).toEqual(['open']);
  });

  it('goes on while the database cannot answer, and says so', async () => {
    const outage = { over: false };
    const { watch, warnings } = startWatch({
      source: {
        async standing() {
          if (!outage.over) throw new Error('the database is down');
          return [];
        },
        revocationMark: async () => 1,
      },
    });
    let ended = 0;
    watch.watch(caller, () => ended++);
    await until(() => warnings.length > 1);
    expect(ended).toBe(0);
    outage.over = true;
    await until(() => ended === 1);
  });

  it('ends streams if tokens cannot be checked for half a second, and those of another issuer go on (T-103)', async () => {
    const { watch } = startWatch({
      source: {
        standing: async () => [],
        revocationMark: async () => {
          throw new Error('the database is away');
        },
      },
    });
    const ended: string[] = [];
    const { tokenId: _, ...foreign } = caller;
    watch.watch({ ...foreign, issuer: 'https://other.example.com' }, () => ended.push('foreign'));
    watch.watch(caller, () => ended.push('ours'));
    await pause(300);
    expect(ended).toEqual([]);
    await until(() => ended.length > 0);
    expect(ended).toEqual(['ours']);
  });

  it('gives streams that open after an outage the same half a second', async () => {
    const database = { isAway: true };
    const { watch } = startWatch({
      source: {
        standing: async (ids) => ids,
        revocationMark: async () => {
          if (database.isAway) throw new Error('the database is away');
          return 1;
        },
      },
    });
    const ended: string[] = [];
    watch.watch(caller, () => ended.push('first'));
    await until(() => ended.length > 0);
    watch.watch(caller, () => ended.push('second'));
    await pause(100);
    database.isAway = false;
    await pause(600);
    expect(ended).toEqual(['first']);
  });

  it('ends streams while a query hangs, if the database is away meanwhile or a token expires (T-171)', async () => {
    const database = { isAway: false };
    const { watch, clock } = startWatch({
      source: {
        standing: () => new Promise(() => undefined),
        revocationMark: async () => {
          if (database.isAway) throw new Error('the database is away');
          return 1;
        },
      },
    });
    const ended: string[] = [];
    watch.watch(caller, () => ended.push('ours'));
    watch.watch({ ...caller, expiresAt: 1500 }, () => ended.push('expired'));
    await pause(30);
    clock.now = 1500;
    await until(() => ended.length > 0);
    await pause(600);
    expect(ended).toEqual(['expired']);
    database.isAway = true;
    await until(() => ended.length > 1);
    expect(ended).toEqual(['expired', 'ours']);
  });

  it('ends streams as soon as a query has failed that began half a second ago (T-171)', async () => {
    let fail: (error: Error) => void = () => undefined;
    const { watch } = startWatch({
      source: {
        standing: () =>
          new Promise((_resolve, reject) => {
            fail = reject;
          }),
        revocationMark: async () => 1,
      },
    });
    let ended = 0;
    watch.watch(caller, () => ended++);
    await pause(600);
    expect(ended).toBe(0);
    fail(new Error('no answer in time'));
    await pause(20);
    expect(ended).toBe(1);
  });

  it('asks for many tokens in parts, and forgets everyone when it is closed', async () => {
    const { watch, asked, standing } = startWatch();
    let ended = 0;
    for (let index = 0; index < 1201; index++) {
      standing.add(`token ${index}`);
      watch.watch({ ...caller, tokenId: `token ${index}` }, () => ended++);
    }
    await until(() => asked.length >= 3);
    expect(asked.slice(0, 3).map(({ length }) => length)).toEqual([500, 500, 201]);
    watch.close();
    standing.clear();
    await pause(20);
    expect(ended).toBe(0);
  });
});
