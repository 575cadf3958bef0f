// One-time codes, turned on by their person and asked for after the password:
// src/authorization-server/account/codes-page.ts
// src/authorization-server/authentication/authentication.ts
// src/authorization-server/authentication/second-factor.ts
// src/authorization-server/views/account/codes.ts
// src/authorization-server/views/login.ts

import { Secret, TOTP } from 'otpauth';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { cookieName } from '../../../src/authorization-server/cookie-name.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { approve, authorization, openConsent, redeem, register } from '../../support/oauth.ts';
import { readDatabase } from '../../support/test-storage.ts';
import { createVisitor, type Visitor } from '../../support/visitor.ts';
import { type OpenPage, openAccount } from './support/account.ts';

let gatehouse: RunningGatehouse;
let client: string;
beforeAll(async () => {
  gatehouse = await startGatehouse({ limits: { codesPerAccount: { times: 4, windowSeconds: 900 } } });
  client = (await register(gatehouse.url)).client_id;
});
afterAll(() => gatehouse.stop());

let people = 0;
let person: { email: string; password: string };
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  person = { email: `person${people++}@example.com`, password: 'the first password' };
  await gatehouse.administration.accounts.add(person.email, person.password);
});
afterEach(() => {
  vi.useRealTimers();
});

/** The next time step begins. */
const nextStep = () => vi.setSystemTime(Date.now() + 30_000);
const codeOf = (secret: string) =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() });
const secretIn = (html: string) =>
  (/<dd><span class="detail">([A-Z2-7 ]+)</.exec(html)?.[1] ?? '').replaceAll(' ', '');

/** Turns one-time codes on; returns the secret and the recovery codes. */
async function turnOn(): Promise<{ visitor: Visitor; secret: string; recovery: string[]; page: OpenPage }> {
  const page = await openAccount(gatehouse, { person, page: '/codes' });
  const secret = secretIn(page.html);
  const on = await page.visitor.submit(page, '/account/codes', [['code', codeOf(secret)]]);
  const recovery = [...on.html.matchAll(/<li>([a-z0-9-]{23})<\/li>/g)].map(([, code = '']) => code);
  return { visitor: page.visitor, secret, recovery, page };
}

/** Gives the right password and, on the page that follows, a code. */
async function logIn(code: string, visitor = createVisitor()): Promise<OpenPage> {
  const page = await openAccount(gatehouse, { person, visitor });
  return visitor.submit(page, '/account/code', [['code', code]]);
}

const isIn = ({ html }: OpenPage) => html.includes('Your account</h1>');

describe('one-time codes', () => {
  it('are turned on by a code that shows that the app has the secret, which is sealed at rest', async () => {
    const page = await openAccount(gatehouse, { person, page: '/codes' });
    const secret = secretIn(page.html);
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(page.html).toMatch(/role="img" aria-label="QR code[^"]*"><svg /);
    const wrong = await page.visitor.submit(page, '/account/codes', [['code', '000000']]);
    expect([wrong.response.status, secretIn(wrong.html)]).toEqual([400, secret]);
    const on = await page.visitor.submit(wrong, '/account/codes', [['code', codeOf(secret)]]);
    const recovery = [...on.html.matchAll(/<li>([a-z0-9-]{23})<\/li>/g)].map(([, code = '']) => code);
    expect(new Set(recovery).size).toBe(10);
    const stored = await readDatabase(gatehouse.folder);
    for (const text of [
      secret,
      Secret.fromBase32(secret).latin1,
      ...recovery,
      ...gatehouse.log.filter((line) => line.includes(secret)),
    ])
      expect(stored).not.toContain(text);
    expect(gatehouse.log.join('')).not.toContain(secret);
    expect((await page.visitor.open(`${gatehouse.url}/account/codes`)).html).not.toContain(secret);
  });

  it('are asked for after the password: on the account page and in an authorization request', async () => {
    const { secret } = await turnOn();
    nextStep();
    expect(isIn(await logIn(codeOf(secret)))).toBe(true);
    nextStep();
    const visitor = createVisitor();
    const flow = authorization(gatehouse, client);
    const codePage = await openConsent(flow, visitor, person);
    expect(codePage.html).toContain('autocomplete="one-time-code"');
    expect(codePage.html).not.toContain('value="allow"');
    const consent = await visitor.submit(codePage, '/code', [['code', codeOf(secret)]]);
    expect(consent.html).toContain('value="allow"');
    const answer = await approve(flow, { visitor });
    expect((await redeem(gatehouse.url, flow, answer.searchParams.get('code') ?? '')).status).toBe(200);
  });

  it('are no way around the password: not without it, not in another browser, not after it was changed', async () => {
    const { secret } = await turnOn();
    nextStep();
    const wrong = await openAccount(gatehouse, { person: { ...person, password: 'wrong' } });
    expect(wrong.html).not.toContain('one-time-code');
    const visitor = createVisitor();
    const page = await openAccount(gatehouse, { person, visitor });
    const pending = /name="pending" value="([^"]+)"/.exec(page.html)?.[1] ?? '';
    const stranger = createVisitor();
    const login = await stranger.open(`${gatehouse.url}/account/login`);
    const csrf = /name="csrf" value="([^"]*)"/.exec(login.html)?.[1] ?? '';
    const restoredRevocations = await stranger.open(`${gatehouse.url}/account/code`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ csrf, pending, code: codeOf(secret) }).toString(),
    });
    expect(restoredRevocations.response.status).toBe(401);
    await gatehouse.administration.accounts.setPassword(person.email, 'another password');
    const late = await visitor.submit(page, '/account/code', [['code', codeOf(secret)]]);
    expect([late.response.status, isIn(late)]).toEqual([401, false]);
  });

  it('count once each, also when the same one comes several times at once', async () => {
    const { secret } = await turnOn();
    expect(isIn(await logIn(codeOf(secret)))).toBe(false);
    nextStep();
    const visitor = createVisitor();
    const page = await openAccount(gatehouse, { person, visitor });
    const browsers = Array.from({ length: 3 }, () => visitor.copy());
    const code = codeOf(secret);
    const answers = await Promise.all(
      browsers.map((browser) => browser.submit(page, '/account/code', [['code', code]])),
    );
    expect(answers.filter(isIn)).toHaveLength(1);
    expect(isIn(await logIn(code))).toBe(false);
  });

  it('can be replaced by a recovery code, once each; new ones end the old', async () => {
    const { recovery, visitor } = await turnOn();
    const [first = '', second = '', third = ''] = recovery;
    expect(isIn(await logIn(first.toUpperCase()))).toBe(true);
    expect(isIn(await logIn(first))).toBe(false);
    const page = await visitor.open(`${gatehouse.url}/account/codes`);
    expect(page.html).toContain('Recovery codes left: 9.');
    const renewed = await visitor.submit(page, '/account/codes/recovery', []);
    const [fresh = ''] = [...renewed.html.matchAll(/<li>([a-z0-9-]{23})<\/li>/g)].map(
      ([, code = '']) => code,
    );
    expect(isIn(await logIn(second))).toBe(false);
    expect(isIn(await logIn(fresh))).toBe(true);
    expect(isIn(await logIn(third))).toBe(false);
  });

  it('show their recovery codes once more to who loads the page again, and a form that is sent again makes no others', async () => {
    const { page, visitor, secret, recovery } = await turnOn();
    const recoveryIn = ({ html }: OpenPage) =>
      [...html.matchAll(/<li>([a-z0-9-]{23})<\/li>/g)].map(([, code]) => code);
    const shown = `${gatehouse.url}/account/codes/new`;
    expect(recoveryIn(await visitor.open(shown))).toEqual(recovery);
    const again = await visitor.submit(page, '/account/codes', [['code', codeOf(secret)]]);
    expect([again.url, again.response.status, recoveryIn(again)]).toEqual([shown, 200, recovery]);

    const on = await visitor.open(`${gatehouse.url}/account/codes`);
    const renewed = await visitor.submit(on, '/account/codes/recovery', []);
    expect(renewed.url).toBe(shown);
    expect(renewed.response.headers.get('cache-control')).toBe('no-store');
    expect(recoveryIn(await visitor.open(shown))).toEqual(recoveryIn(renewed));
    expect(recoveryIn(renewed)).not.toEqual(recovery);
    expect(isIn(await logIn(recoveryIn(renewed)[0] ?? ''))).toBe(true);
  });

  it('show their recovery codes to the login that made them alone, for five minutes, and not once they are off', async () => {
    const { visitor, recovery } = await turnOn();
    const [first = '', second = ''] = recovery;
    const shown = `${gatehouse.url}/account/codes/new`;
    const name = cookieName(gatehouse.url, 'recovery-codes', 'path');
    const cookie = visitor.cookies.get(name) ?? '';
    expect(cookie).not.toBe('');
    expect(Buffer.from(cookie, 'base64url').toString('latin1')).not.toContain(first);
    const forged = visitor.copy((at, value) => (at === name ? `${value.slice(0, -4)}AAAA` : value));
    expect((await forged.open(shown)).url).toBe(`${gatehouse.url}/account/codes`);

    const elsewhere = createVisitor();
    await logIn(second, elsewhere);
    const on = await elsewhere.open(`${gatehouse.url}/account/codes`);
    const renewed = await elsewhere.submit(on, '/account/codes/recovery', []);
    expect(renewed.url).toBe(shown);
    const thief = elsewhere.copy((at, value) => (at === name ? cookie : value));
    expect((await thief.open(shown)).url).toBe(`${gatehouse.url}/account/codes`);

    await elsewhere.submit(on, '/account/codes/off', []);
    expect((await elsewhere.open(shown)).html).toContain('role="img"');
    const again = await turnOn();
    expect((await again.visitor.open(shown)).html).toContain(again.recovery[0]);
    vi.setSystemTime(Date.now() + 301_000);
    expect((await again.visitor.open(shown)).url).toBe(`${gatehouse.url}/account/login?next=codes`);
  });

  it('are throttled for each account, also in parallel; a browser that is known has tries of its own (T-117)', async () => {
    const { secret, visitor: known } = await turnOn();
    await known.submit(await known.open(`${gatehouse.url}/account`), '/account/logout', []);
    nextStep();
    const stranger = createVisitor();
    const page = await openAccount(gatehouse, { person, visitor: stranger });
    const guesses = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        stranger.submit(page, '/account/code', [['code', String(at).padStart(6, '0')]]),
      ),
    );
    const statuses = guesses.map(({ response }) => response.status).sort();
    expect(statuses).toEqual([...Array(4).fill(401), ...Array(16).fill(429)]);
    const right = await stranger.submit(page, '/account/code', [['code', codeOf(secret)]]);
    expect(right.response.status).toBe(429);
    expect(right.response.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(right.html).toContain('or use another browser in which you have logged in before');
    expect(isIn(await logIn(codeOf(secret), known))).toBe(true);
  });

  it('are not turned off by who knows the password alone: its change makes a login no younger', async () => {
    const { visitor } = await turnOn();
    vi.setSystemTime(Date.now() + 3_600_000);
    const page = await visitor.open(`${gatehouse.url}/account/password`);
    const fresh = 'a password made today';
    const changed = await visitor.submit(page, '/account/password', [
      ['current', person.password],
      ['next', fresh],
      ['repeat', fresh],
    ]);
    expect(changed.html).toContain('The password was changed.');
    const { url } = await visitor.open(`${gatehouse.url}/account/codes`);
    expect(url).toBe(`${gatehouse.url}/account/login?next=codes`);
    expect(isIn(await visitor.open(`${gatehouse.url}/account`))).toBe(true);
  });

  it('are not turned on, off or replaced from a page that was left open for longer than five minutes', async () => {
    const left = await openAccount(gatehouse, { person, page: '/codes' });
    const secret = secretIn(left.html);
    vi.setSystemTime(Date.now() + 301_000);
    const late = await left.visitor.submit(left, '/account/codes', [['code', codeOf(secret)]]);
    expect(late.url).toBe(`${gatehouse.url}/account/login?next=codes`);
    expect(isIn(await openAccount(gatehouse, { person }))).toBe(true);

    const { visitor } = await turnOn();
    const on = await visitor.open(`${gatehouse.url}/account/codes`);
    vi.setSystemTime(Date.now() + 301_000);
    for (const step of ['/account/codes/recovery', '/account/codes/off'])
      expect((await visitor.submit(on, step, [])).url).toBe(`${gatehouse.url}/account/login?next=codes`);
    expect(isIn(await openAccount(gatehouse, { person }))).toBe(false);
  });

  it('are turned off by their person, and by the operator for somebody who lost the device', async () => {
    const { visitor } = await turnOn();
    const page = await visitor.open(`${gatehouse.url}/account/codes`);
    expect((await visitor.submit(page, '/account/codes/off', [])).html).toContain('role="img"');
    expect(isIn(await openAccount(gatehouse, { person }))).toBe(true);
    await turnOn();
    expect(await gatehouse.administration.accounts.removeFactors(person.email)).toEqual({
      passkeys: 0,
      oneTimeCodes: true,
    });
    expect(isIn(await openAccount(gatehouse, { person }))).toBe(true);
  });
});
