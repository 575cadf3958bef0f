import { randomBytes } from 'node:crypto';
import Koa from 'koa';
import request from 'supertest';
import { expect, it } from 'vitest';
import {
  createUpstreamStates,
  stateSeconds,
  type UpstreamState,
} from '../../../src/authorization-server/upstream-login/begin-upstream.ts';
import { createSealedBox } from '../../../src/crypto/sealed-box.ts';
import { hashSecret } from '../../../src/crypto/secret.ts';
import { openForTest } from '../../storage/contract/subject.ts';
import { openNewDatabase } from '../../storage/sqlite/subject.ts';

const state = (value: string): UpstreamState => ({
  upstream: 'work',
  purpose: {
    purpose: 'authorization',
    uid: 'i1',
    clientId: 'c1',
    approved: { scopes: ['notes:read'], expiresIn: 60, endEarlier: false },
  },
  pending: { state: value, codeVerifier: 'canary-verifier', scopes: [] },
});

/** States over a database, behind `/keep?state=` and `/claim?upstream=&state=`. */
async function start({ secure = false } = {}) {
  const storage = await openForTest(openNewDatabase);
  const box = createSealedBox([{ id: 'k', key: randomBytes(32).toString('base64url') }]);
  const clock = { now: 1_800_000_000 };
  const { artifacts } = storage;
  const states = createUpstreamStates({ artifacts, box, secure, now: () => clock.now });
  const app = new Koa({ proxy: true });
  app.use(async (ctx) => {
    const value = ctx.query.state as string | undefined;
    if (ctx.path === '/keep') ctx.body = await states.keep(ctx, state(value ?? '')).then(() => 'kept');
    else ctx.body = { claimed: await states.claim(ctx, String(ctx.query.upstream ?? 'work'), value) };
  });
  const server = app.callback();
  const browser = () => request.agent(server);
  const claim = async (who: ReturnType<typeof browser>, query: Record<string, string>) =>
    ((await who.get('/claim').query(query)).body as { claimed: unknown }).claimed;
  return { artifacts, clock, browser, claim, server };
}

it('a state is good once, in the browser it was made for (T-080, A11-06)', async () => {
  const { browser, claim } = await start();
  const ada = browser();
  await ada.get('/keep').query({ state: 's1' });
  expect(await claim(browser(), { state: 's1' })).toBe('state_of_other_browser');
  expect(await claim(ada, { state: 's1' })).toEqual(state('s1'));
  // The cookie went with it; a browser that kept it is no better off.
  expect(await claim(ada, { state: 's1' })).toBe('state_unknown');
});

it('of many who come with a state at once, one is let in (T-080)', async () => {
  const { server, claim, browser } = await start();
  const kept = await request(server).get('/keep').query({ state: 's1' });
  const cookie = (kept.headers['set-cookie'] as unknown as string[])[0]?.split(';')[0] ?? '';
  const claims = await Promise.all(
    Array.from({ length: 10 }, () => claim(browser().set('Cookie', cookie) as never, { state: 's1' })),
  );
  expect(claims.filter((each) => typeof each === 'object')).toHaveLength(1);
});

it('a state of another upstream, an expired one, an unknown one and none are refused by name (T-080, T-087)', async () => {
  const { browser, claim, clock } = await start();
  const ada = browser();
  await ada.get('/keep').query({ state: 's1' });
  expect(await claim(ada, { state: 's1', upstream: 'hub' })).toBe('state_of_other_upstream');
  expect(await claim(ada, { state: 's2' })).toBe('state_unknown');
  expect(await claim(ada, { state: '' })).toBe('state_missing');
  expect(await claim(ada, {})).toBe('state_missing');
  clock.now += stateSeconds;
  expect(await claim(ada, { state: 's1' })).toBe('state_expired');
});

it('several logins in one browser do not disturb each other', async () => {
  const { browser, claim } = await start();
  const ada = browser();
  for (const value of ['s1', 's2', 's3']) await ada.get('/keep').query({ state: value });
  for (const value of ['s2', 's3', 's1']) expect(await claim(ada, { state: value })).toEqual(state(value));
});

it('the cookie is for this host, https and top-level visits alone, and ends with the state (A11-04, T-081)', async () => {
  const { server } = await start({ secure: true });
  const kept = await request(server).get('/keep').set('X-Forwarded-Proto', 'https').query({ state: 's1' });
  const cookies = kept.headers['set-cookie'] as unknown as string[];
  expect(cookies).toHaveLength(1);
  expect(cookies[0]).toMatch(
    /^__Host-gatehouse-upstream-[\w-]{16}=[\w-]{43}; path=\/; expires=[^;]+; samesite=lax; secure; httponly$/i,
  );
});

it('nothing of a state can be read from the database (T-094)', async () => {
  const { artifacts, browser } = await start();
  await browser().get('/keep').query({ state: 'canary-state' });
  const row = await artifacts.find('UpstreamState', hashSecret('UpstreamState', 'canary-state'));
  expect(row?.payload.length).toBeGreaterThan(100);
  expect(Buffer.from(row?.payload ?? []).toString('latin1')).not.toMatch(/canary|work|notes:read/);
});
