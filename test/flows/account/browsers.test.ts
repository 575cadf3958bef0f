// Logins in browsers:
// src/authorization-server/account/own-session.ts
// src/authorization-server/account/browser-logins.ts
// src/authorization-server/account/login-page.ts
// src/authorization-server/engine/session-browser.ts
// src/authorization-server/authentication/answer-login.ts
// src/authorization-server/authentication/ways-to-log-in.ts
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { cookieName } from '../../../src/authorization-server/cookie-name.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { authorization, openConsent, register } from '../../support/oauth.ts';
import { grace } from '../../support/served.ts';
import { createVisitor, type Visitor } from '../../support/visitor.ts';
import { idsIn, openAccount, submitWithId } from './support/account.ts';

const hour = 3600;

let gatehouse: RunningGatehouse;
let client: string;
let sessionCookie: string;
beforeAll(async () => {
  gatehouse = await startGatehouse({ login: { sessionSeconds: 10 * hour, sessionIdleSeconds: 4 * hour } });
  sessionCookie = cookieName(gatehouse.url, 'session', 'host');
  await gatehouse.administration.accounts.add(grace.email, grace.password);
  client = (await register(gatehouse.url)).client_id;
});
afterAll(() => gatehouse.stop());

async function isLoggedIn(visitor: Visitor): Promise<boolean> {
  return (await visitor.open(`${gatehouse.url}/account`)).html.includes('Your account</h1>');
}

/** The session is used, as an authorization request does. */
async function use(visitor: Visitor): Promise<string> {
  const response = await visitor.request(authorization(gatehouse, client, { prompt: 'none' }).url);
  return new URL(response.headers.get('location') ?? '').searchParams.get('error') ?? '';
}

describe('a login on the account page', () => {
  it('asks for a password first, and counts for authorization requests as well', async () => {
    const { url, visitor } = await openAccount(gatehouse);
    expect(url).toBe(`${gatehouse.url}/account`);
    expect(await use(visitor)).toBe('consent_required');
  });

  it('gives a new session id, and one that a browser came with is not taken (T-119)', async () => {
    const fixed = createVisitor(new Map([[`${sessionCookie} /`, { value: 'planted', path: '/' }]]));
    await openAccount(gatehouse, { visitor: fixed });
    expect(fixed.cookies.get(sessionCookie)).toMatch(/^[\w-]{43}$/);
    const attacker = createVisitor(new Map([[`${sessionCookie} /`, { value: 'planted', path: '/' }]]));
    expect(await isLoggedIn(attacker)).toBe(false);
  });

  it('once more, as for a change of how one logs in, gives a new session id; the old one is dead (T-119)', async () => {
    const { visitor } = await openAccount(gatehouse);
    const before = visitor.copy();
    const page = await visitor.open(`${gatehouse.url}/account/login?next=codes`);
    await openAccount(gatehouse, { visitor, page: '/login?next=codes' });
    expect(page.html).toContain('Please log in again to make this change');
    expect(visitor.cookies.get(sessionCookie)).not.toBe(before.cookies.get(sessionCookie));
    expect(await isLoggedIn(visitor)).toBe(true);
    expect(await isLoggedIn(before)).toBe(false);
  });

  it('as somebody else logs the one before out', async () => {
    const { visitor } = await openAccount(gatehouse, { person: grace });
    const before = visitor.copy();
    const page = await openAccount(gatehouse, { visitor, page: '/login' });
    expect(page.html).toContain('ada@example.com');
    expect(await isLoggedIn(before)).toBe(false);
  });

  it('leads to pages of the account and nowhere else (T-112)', async () => {
    for (const next of ['https://evil.example', '//evil.example', '../authorize', 'logout', '%0d%0aX: y']) {
      const page = await openAccount(gatehouse, { page: `/login?next=${encodeURIComponent(next)}` });
      expect(page.url).toBe(`${gatehouse.url}/account`);
    }
  });

  it('is ended by logging out, and only by the form (T-122)', async () => {
    const page = await openAccount(gatehouse);
    expect((await page.visitor.request(`${gatehouse.url}/account/logout`)).status).toBe(405);
    const copy = page.visitor.copy();
    await page.visitor.submit(page, '/account/logout', []);
    expect(await isLoggedIn(page.visitor)).toBe(false);
    expect(await isLoggedIn(copy)).toBe(false);
  });

  it('belongs to no cookie with a changed bit, nor to two of them (T-121)', async () => {
    const { visitor } = await openAccount(gatehouse);
    const flip = (value: string) => value.slice(0, -1) + (value.endsWith('A') ? 'B' : 'A');
    for (const name of [sessionCookie, `${sessionCookie}.sig`]) {
      expect(await isLoggedIn(visitor.copy((at, value) => (at === name ? flip(value) : value)))).toBe(false);
      expect(await isLoggedIn(visitor.copy((at, value) => (at === name ? undefined : value)))).toBe(false);
    }
    expect(await isLoggedIn(visitor)).toBe(true);
  });
});

describe('the browsers of an account', () => {
  it('are listed, one’s own named, and others end one by one or all together; ids of others are unknown (T-124)', async () => {
    const own = await openAccount(gatehouse, { person: grace });
    const others = [];
    for (let at = 0; at < 3; at++) others.push((await openAccount(gatehouse, { person: grace })).visitor);
    const stranger = await openAccount(gatehouse);

    const page = await openAccount(gatehouse, { visitor: own.visitor });
    expect(page.html.match(/This browser/g)).toHaveLength(1);
    const ids = idsIn(page.html, '/account/browsers');
    expect(ids.length).toBeGreaterThanOrEqual(3);
    expect((await submitWithId(stranger.visitor, stranger, '/browsers', ids[0] ?? '')).response.status).toBe(
      404,
    );
    const before = (await Promise.all(others.map(isLoggedIn))).filter(Boolean).length;
    await submitWithId(own.visitor, page, '/browsers', ids[0] ?? '');
    const left = idsIn((await openAccount(gatehouse, { visitor: own.visitor })).html, '/account/browsers');
    expect(left).toEqual(ids.slice(1));
    expect(before).toBe(3);

    await own.visitor.submit(page, '/account/browsers/others', []);
    expect(await Promise.all(others.map(isLoggedIn))).toEqual([false, false, false]);
    expect(await isLoggedIn(own.visitor)).toBe(true);
    expect(await isLoggedIn(stranger.visitor)).toBe(true);
  });

  it('are called by name and system, as they were at the login, wherever that was; one without a known name is another', async () => {
    const person = { email: 'joan@example.com', password: 'a program of some length' };
    await gatehouse.administration.accounts.add(person.email, person.password);
    const linux = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';
    const iPhone = `Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) Version/26.0 Mobile/15E148 Safari/604.1`;
    const own = await openAccount(gatehouse, { person, visitor: createVisitor(undefined, 'en', linux) });
    const phone = createVisitor(undefined, 'zh-CN', iPhone);
    await openConsent(authorization(gatehouse, client), phone, person);
    await openAccount(gatehouse, { person });

    const named = async (visitor: Visitor) =>
      [...(await visitor.open(`${gatehouse.url}/account`)).html.matchAll(/<h3>(.*?)<\/h3>/g)].map(
        ([, name]) => name,
      );
    const [first, ...others] = await named(own.visitor);
    expect([first, others.sort()]).toEqual([
      'This browser: Firefox on Linux',
      ['Another browser', 'Safari on iOS'],
    ]);
    await use(phone.copy());
    expect((await named(phone))[0]).toBe('当前浏览器：iOS 上的 Safari');
    expect(await named(phone)).toContain('Linux 上的 Firefox');
  });

  it('are logged out after a time unused, and after a longer time however much they are used (T-124)', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      const { visitor: idle } = await openAccount(gatehouse);
      const { visitor: busy } = await openAccount(gatehouse);
      const pass = (hours: number) => vi.setSystemTime(Date.now() + hours * hour * 1000);
      pass(3);
      expect(await use(busy)).toBe('consent_required');
      pass(2);
      expect(await isLoggedIn(idle)).toBe(false);
      expect(await use(busy)).toBe('consent_required');
      pass(3);
      expect(await use(busy)).toBe('consent_required');
      pass(2.1);
      expect(await use(busy)).toBe('login_required');
      expect(await isLoggedIn(busy)).toBe(false);
    } finally {
      vi.useRealTimers();
    }
  });

  it('prove by a login for an app nothing for changes of the ways to log in (T-209)', async () => {
    const visitor = createVisitor();
    await openConsent(authorization(gatehouse, client), visitor);
    expect((await visitor.open(`${gatehouse.url}/account`)).url).toBe(`${gatehouse.url}/account`);
    expect((await visitor.open(`${gatehouse.url}/account/passkeys`)).url).toContain('/login?next=passkeys');
    const proved = await openAccount(gatehouse, { visitor, page: '/passkeys' });
    expect(proved.url).toBe(`${gatehouse.url}/account/passkeys`);
    await openConsent(authorization(gatehouse, client, { prompt: 'login' }), visitor);
    expect((await visitor.open(`${gatehouse.url}/account/passkeys`)).url).toContain('/login?next=passkeys');
  });

  it('change no way to log in some minutes after they proved who they are, whatever form they still have open (T-209)', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      const { visitor, html } = await openAccount(gatehouse, { page: '/codes' });
      const csrf = /name="csrf" value="([^"]*)"/.exec(html)?.[1] ?? '';
      vi.setSystemTime(Date.now() + 301_000);
      for (const page of [
        'passkeys',
        'passkeys/rename',
        'passkeys/remove',
        'codes',
        'codes/off',
        'codes/recovery',
        'upstreams/work/link',
        'upstreams/work/unlink',
        'credentials/notes',
        'credentials/notes/remove',
      ]) {
        const posted = await visitor.request(`${gatehouse.url}/account/${page}`, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
          body: new URLSearchParams({ csrf }).toString(),
        });
        expect([page, posted.status, posted.headers.get('location')]).toEqual([
          page,
          303,
          expect.stringContaining('/account/login?next='),
        ]);
      }
      const posted = await visitor.request(`${gatehouse.url}/account/password`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
        body: new URLSearchParams({ csrf, next: 'another password', repeat: 'another password' }).toString(),
      });
      expect(posted.status).toBe(403);
    } finally {
      vi.useRealTimers();
    }
  });

  it('have to show once more who they are before passkeys or codes change, some minutes after the login', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      const { visitor } = await openAccount(gatehouse);
      for (const page of ['passkeys', 'codes'])
        expect((await visitor.open(`${gatehouse.url}/account/${page}`)).url).toBe(
          `${gatehouse.url}/account/${page}`,
        );
      vi.setSystemTime(Date.now() + 301_000);
      for (const page of ['passkeys', 'codes'])
        expect((await visitor.open(`${gatehouse.url}/account/${page}`)).url).toBe(
          `${gatehouse.url}/account/login?next=${page}`,
        );
      const again = await openAccount(gatehouse, { visitor, page: '/codes' });
      expect(again.url).toBe(`${gatehouse.url}/account/codes`);
    } finally {
      vi.useRealTimers();
    }
  });
});
