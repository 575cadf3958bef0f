// Passwords, changed by their person and set anew by a link:
// src/authorization-server/account/password-page.ts
// src/authorization-server/administration/accounts.ts
// src/authorization-server/views/account/password.ts
// src/authorization-server/views/account/frame.ts
// src/cli/commands/operator/account.ts

import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { cookieName } from '../../../src/authorization-server/cookie-name.ts';
import { operate } from '../../cli/support/installation.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { obtainTokens, tryAccess } from '../../support/oauth.ts';
import { placeOf, queryDatabase } from '../../support/test-storage.ts';
import { createVisitor } from '../../support/visitor.ts';
import { openAccount } from './support/account.ts';

let gatehouse: RunningGatehouse;
beforeAll(async () => {
  gatehouse = await startGatehouse();
});
afterAll(() => gatehouse.stop());

let people = 0;
let person: { email: string; password: string };
beforeEach(async () => {
  person = { email: `person${people++}@example.com`, password: 'the first password' };
  await gatehouse.administration.accounts.add(person.email, person.password);
});

const fresh = 'a password made today';
const twice = (password: string): [string, string][] => [
  ['next', password],
  ['repeat', password],
];

async function canLogIn(password: string): Promise<boolean> {
  const page = await openAccount(gatehouse, { person: { ...person, password } });
  return page.html.includes('Your account</h1>');
}

describe('a person who changes their password', () => {
  it('has to know the one there is, and nothing is changed by a wrong one or by two that differ (T-123)', async () => {
    const { visitor } = await openAccount(gatehouse, { person });
    const page = await visitor.open(`${gatehouse.url}/account/password`);
    const attempt = async (fields: [string, string][]) =>
      (await visitor.submit(page, '/account/password', fields)).response.status;
    expect(await attempt([['current', 'wrong'], ...twice(fresh)])).toBe(403);
    expect(await attempt([['current', person.password], ...twice('short')])).toBe(400);
    expect(
      await attempt([
        ['current', person.password],
        ['next', fresh],
        ['repeat', `${fresh}!`],
      ]),
    ).toBe(400);
    expect(await canLogIn(person.password)).toBe(true);
  });

  it('stays logged in under a new session id; other browsers and all apps are logged out (T-123, T-119)', async () => {
    const { visitor } = await openAccount(gatehouse, { person });
    const elsewhere = (await openAccount(gatehouse, { person })).visitor;
    const { tokens } = await obtainTokens(gatehouse, { person });
    const before = visitor.copy();
    const page = await visitor.open(`${gatehouse.url}/account/password`);
    const done = await visitor.submit(page, '/account/password', [
      ['current', person.password],
      ...twice(fresh),
    ]);
    expect(done.html).toContain('The password was changed.');
    const isLoggedIn = async (browser: typeof visitor) =>
      (await browser.open(`${gatehouse.url}/account`)).url === `${gatehouse.url}/account`;
    expect(await isLoggedIn(visitor)).toBe(true);
    expect(await isLoggedIn(elsewhere)).toBe(false);
    expect(await isLoggedIn(before)).toBe(false);
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(401);
    expect(await canLogIn(person.password)).toBe(false);
    expect(await canLogIn(fresh)).toBe(true);
  });

  it('is throttled like a login, so that an open browser is no way to guess (T-117)', async () => {
    const { visitor } = await openAccount(gatehouse, { person });
    const page = await visitor.open(`${gatehouse.url}/account/password`);
    const statuses: number[] = [];
    for (let at = 0; at < 12; at++)
      statuses.push(
        (await visitor.submit(page, '/account/password', [['current', `guess ${at}`], ...twice(fresh)]))
          .response.status,
      );
    expect(statuses.slice(0, 10)).toEqual(Array(10).fill(403));
    expect(statuses.slice(10)).toEqual([429, 429]);
    const last = await visitor.submit(page, '/account/password', [['current', 'guess'], ...twice(fresh)]);
    expect(Number(last.response.headers.get('retry-after'))).toBeGreaterThan(0);
    const attempts = gatehouse.log.filter((line) => line.includes('"reason":"password_change"'));
    expect(attempts.length).toBeGreaterThanOrEqual(10);
  });
});

describe('a reset link', () => {
  async function makeLink(): Promise<string> {
    const { path } = await gatehouse.administration.accounts.startPasswordReset(person.email);
    return gatehouse.url + path;
  }

  it('is printed by the operator’s command, below the public URL, and opens nothing from the database (T-123)', async () => {
    const args = ['account', 'reset', person.email, ...(await placeOf(gatehouse.folder))];
    const { stdout, stderr } = await operate(args);
    expect(stdout).toMatch(/^http:\/\/localhost:3000\/account\/reset\?key=[\w-]{22}\n$/);
    expect(stderr).toMatch(/^Works once, until \d{4}-/);
    const json = JSON.parse((await operate([...args, '--json'])).stdout);
    expect(json).toEqual({
      link: expect.stringMatching(/^http:\/\/localhost:3000\/account\/reset\?key=/),
      expiresAt: expect.any(Number),
    });
    const key = new URL(json.link).searchParams.get('key') ?? '';
    expect(Buffer.from(key, 'base64url')).toHaveLength(16);
    const sql = "SELECT * FROM artifacts WHERE kind = 'PasswordReset'";
    const rows = await queryDatabase(gatehouse.folder, sql);
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain(key);
  });

  it('begins with the public URL the command is told, and says where it had to guess one', async () => {
    const args = ['account', 'reset', person.email, ...(await placeOf(gatehouse.folder))];
    for (const form of [[], ['--json']])
      expect((await operate([...args, ...form])).stderr).toContain('The settings have no publicUrl');
    const told = await operate([...args, '--public-url', 'https://mcp.example.com/']);
    expect(told.stdout).toMatch(/^https:\/\/mcp\.example\.com\/account\/reset\?key=/);
    expect(told.stderr).not.toContain('publicUrl');
    await expect(operate([...args, '--public-url', 'mcp.example.com'])).rejects.toThrow('publicUrl');
  });

  it('keeps to the public URL whatever Host the browser sends (T-123, T-106)', async () => {
    const link = await makeLink();
    const { html } = await createVisitor().open(link);
    expect(html).toContain(`action="${gatehouse.url}/account/reset"`);
    const other = await fetch(link, {
      headers: { 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' },
    });
    expect(await other.text()).not.toContain('evil.example');
  });

  it('sets the password and ends every session and grant (T-123)', async () => {
    const { visitor: before } = await openAccount(gatehouse, { person });
    const { tokens } = await obtainTokens(gatehouse, { person });
    const visitor = createVisitor();
    const link = await makeLink();
    const page = await visitor.open(link);
    expect(page.response.headers.get('referrer-policy')).toBe('no-referrer');
    const short = await visitor.submit(page, '/account/reset', twice('short'));
    expect(short.response.status).toBe(400);
    const done = await visitor.submit(page, '/account/reset', twice(fresh));
    expect(done.html).toContain('The password was set');
    expect(await canLogIn(fresh)).toBe(true);
    expect(await canLogIn(person.password)).toBe(false);
    expect((await before.open(`${gatehouse.url}/account`)).url).toContain('/account/login');
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(401);
    expect(done.url).toBe(`${gatehouse.url}/account/reset?done=1`);
    const again = await visitor.open(link);
    expect(again.response.status).toBe(400);
    expect(again.html).toContain('ask the operator of this server for a new link');
    expect(again.html).toContain(`<a href="${gatehouse.url}/account/login">Log in</a>`);
  });

  it('leads on to an address without its key, which a cookie holds sealed for that page alone; opening it uses nothing up (T-208)', async () => {
    const link = await makeLink();
    const key = new URL(link).searchParams.get('key') ?? '';
    for (const method of ['GET', 'HEAD', 'GET']) {
      const scanned = await fetch(link, { method, redirect: 'manual' });
      expect(scanned.status).toBe(303);
      expect(scanned.headers.get('location')).toMatch(/\/account\/reset\?page=[\w-]{22}$/);
      expect(scanned.headers.get('cache-control')).toBe('no-store');
      expect(await scanned.text()).not.toContain(key);
      const cookies = scanned.headers.getSetCookie();
      expect(cookies.join('\n')).not.toContain(key);
      expect(cookies.find((line) => /^gatehouse-reset-\d+=/.test(line))).toMatch(
        /^gatehouse-reset-\d+=[\w-]{50,}; path=\/account\/reset; expires=[^;]+; samesite=lax; httponly$/,
      );
    }
    const visitor = createVisitor();
    const page = await visitor.open(link);
    expect(page.response.status).toBe(200);
    expect(new URL(page.url).searchParams.has('key')).toBe(false);
    for (const other of ['', '?page=', `?page=${'A'.repeat(22)}`])
      expect((await visitor.copy().open(`${gatehouse.url}/account/reset${other}`)).response.status).toBe(400);
    expect((await createVisitor().open(page.url)).response.status).toBe(400);
    expect((await visitor.open(page.url)).response.status).toBe(200);
    expect((await visitor.submit(page, '/account/reset', twice(fresh))).html).toContain(
      'The password was set',
    );
    expect(visitor.cookies.get(cookieName(gatehouse.url, 'reset', 'path'))).toBeUndefined();
    expect(gatehouse.log.join('')).not.toContain(key);
  });

  it('opened in two tabs sets the password of the account that each tab was opened for', async () => {
    const other = { email: `other${people++}@example.com`, password: 'the first password' };
    await gatehouse.administration.accounts.add(other.email, other.password);
    const visitor = createVisitor();
    const first = await visitor.open(await makeLink());
    const { path } = await gatehouse.administration.accounts.startPasswordReset(other.email);
    await visitor.open(gatehouse.url + path);
    await visitor.submit(first, '/account/reset', twice(fresh));
    expect(await canLogIn(fresh)).toBe(true);
    expect((await openAccount(gatehouse, { person: other })).html).toContain('Your account</h1>');
  });

  it.each(['', '?key=', '?key=a%0d%0aSet-Cookie:x', '?key=a&key=b', `?key=${'k'.repeat(65)}`])(
    'that is none (%s) is asked for, with a way on',
    async (query) => {
      const { response, html } = await createVisitor().open(`${gatehouse.url}/account/reset${query}`);
      expect(response.status).toBe(400);
      expect(html).toContain('Please open the complete link again');
      expect(html).toContain(`<a href="${gatehouse.url}/account/login">`);
    },
  );

  it('used twenty times at once works once (T-123)', async () => {
    const link = await makeLink();
    const visitors = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const visitor = createVisitor();
        return { visitor, page: await visitor.open(link) };
      }),
    );
    const answers = await Promise.all(
      visitors.map(({ visitor, page }, at) =>
        visitor.submit(page, '/account/reset', twice(`password number ${at}`)),
      ),
    );
    const winners = answers.flatMap(({ response, html }, at) =>
      response.status === 200 && html.includes('The password was set') ? [at] : [],
    );
    expect(winners).toHaveLength(1);
    // One account has few places in the password queue, and an address few links that do not work: those beyond are asked to
    // try again (T-206).
    const others = answers.filter(({ response }) => ![400, 429, 503].includes(response.status));
    expect(others.map(({ response, html }) => [response.status, html])).toEqual([
      [200, expect.stringContaining('The password was set')],
    ]);
    expect(await canLogIn(`password number ${winners[0]}`)).toBe(true);
  });

  it('works for an hour, not longer; and not after another one was used, or the account was disabled (T-123)', async () => {
    const isOpen = async (link: string) => (await createVisitor().open(link)).response.status === 200;
    const [late, first, second, last] = [
      await makeLink(),
      await makeLink(),
      await makeLink(),
      await makeLink(),
    ];
    vi.useFakeTimers({ toFake: ['Date'] });
    vi.setSystemTime(Date.now() + 3_601_000);
    expect(await isOpen(late)).toBe(false);
    vi.useRealTimers();
    const visitor = createVisitor();
    await visitor.submit(await visitor.open(first), '/account/reset', twice(fresh));
    expect(await isOpen(second)).toBe(false);
    const another = await makeLink();
    expect(await isOpen(another)).toBe(true);
    await gatehouse.administration.accounts.disable(person.email);
    expect(await isOpen(another)).toBe(false);
    expect(await isOpen(last)).toBe(false);
    await expect(makeLink()).rejects.toThrow('This account is disabled.');
  });

  it('cannot be guessed: wrong ones look like used ones, and beyond a limit their address has to wait (T-117)', async () => {
    const guarded = await startGatehouse({
      limits: { passwordResetsPerAddress: { times: 3, windowSeconds: 60 } },
    });
    try {
      const guess = async (key: string) =>
        (await createVisitor().open(`${guarded.url}/account/reset?key=${key}`)).response.status;
      for (let at = 0; at < 3; at++) expect(await guess(`guess${at}`)).toBe(400);
      expect(await guess('another')).toBe(429);
      const { path } = await guarded.administration.accounts.startPasswordReset('ada@example.com');
      const { response, html } = await createVisitor().open(guarded.url + path);
      expect(response.status).toBe(429);
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(html).toMatch(/Please try again in \d+/);
    } finally {
      await guarded.stop();
    }
  });
});

describe('the operator', () => {
  it('lists and ends the logins of an account, and takes its factors away (T-192)', async () => {
    const { visitor } = await openAccount(gatehouse, { person });
    const run = async (...args: string[]) =>
      (await operate(['account', ...args, ...(await placeOf(gatehouse.folder))])).stdout;
    expect(await run('sessions', person.email)).toMatch(/^LOGGED IN +ID\n\d{4}-\S+ +[\w-]{43}\n$/);
    expect(JSON.parse(await run('sessions', person.email, '--json'))).toHaveLength(1);
    expect(await run('sessions', person.email, '--end')).toBe(`Ended 1 browser login of ${person.email}.\n`);
    expect((await visitor.open(`${gatehouse.url}/account`)).url).toContain('/account/login');
    expect(await run('remove-factors', person.email)).toBe(
      `Removed 0 passkeys of ${person.email}; one-time codes were off.\n`,
    );
  });
});
