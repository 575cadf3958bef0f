// What a browser sends to another port of localhost:
// src/authorization-server/engine/flow-logins.ts
// src/authorization-server/interactions/page-pass.ts
// src/authorization-server/account/own-session.ts
// src/authorization-server/account/password-page.ts
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { askForCode, registerDevice } from '../flows/device/subject.ts';
import { arrive, openPage } from '../support/browser.ts';
import { ada } from '../support/gatehouse.ts';
import { authorization, type Flow, redeem, register } from '../support/oauth.ts';
import { type Served, serveGatehouse } from '../support/served.ts';
import { makeResetLink } from './support/account-pages.ts';
import { logIn, setScene } from './support/login.ts';

const scene = setScene();

/** An app that keeps every cookie its listener on `localhost` gets. */
interface HostileApp {
  origin: string;
  callback: string;
  cookies: Map<string, string>;
  /** Everything its listener was sent: paths and headers. */
  received: string[];
  codes: string[];
  stop(): void;
}

async function startHostileApp(): Promise<HostileApp> {
  const cookies = new Map<string, string>();
  const received: string[] = [];
  const codes: string[] = [];
  const server = createServer((request, response) => {
    received.push(`${request.url} ${JSON.stringify(request.rawHeaders)}`);
    for (const pair of (request.headers.cookie ?? '').split(/;\s*/).filter(Boolean)) {
      const at = pair.indexOf('=');
      cookies.set(`${pair.slice(0, at)} ${pair.slice(at + 1)}`, pair);
    }
    const code = new URL(request.url ?? '/', 'http://localhost').searchParams.get('code');
    if (code) codes.push(code);
    response.setHeader('content-type', 'text/html');
    response.end('<!DOCTYPE html><title>Back in the app</title><p>Thank you.</p>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`;
  return { origin, callback: `${origin}/callback`, cookies, received, codes, stop: () => server.close() };
}

let app: HostileApp;
beforeAll(async () => {
  app = await startHostileApp();
});
afterAll(() => app.stop());

/** Paths of ours under which the app may have a page of its own: browsers send it the cookies of each. */
const namesakes = [
  '/',
  '/account',
  '/account/login',
  '/account/codes/new',
  '/account/reset/x',
  '/interaction/x',
  '/authorize',
  '/device',
  '/session/end/confirm',
];

/** A page of the app is open beside ours, at every path that we have. */
async function lurk(page: Page): Promise<void> {
  const tab = await page.context().newPage();
  for (const path of namesakes) await tab.goto(app.origin + path);
  await tab.close();
}

async function ask({ url, mcpUrl }: Served, scope: string): Promise<Flow> {
  const { client_id } = await register(url, { client_name: 'A kitten', redirect_uris: [app.callback] });
  return authorization({ url, mcpUrl }, client_id, { redirect_uri: app.callback, scope });
}

/** Everything of the cookies an app could send: each alone, each pair of value and signature, and all together. */
function combinations(): string[] {
  const pairs = [...app.cookies.values()];
  const named = Map.groupBy(pairs, (pair) => pair.split('=')[0]?.replace(/\.sig$/, '') ?? '');
  const signed = [...named.values()].flatMap((same) => {
    const [values, signatures] = [false, true].map((isSignature) =>
      same.filter((pair) => /^[^=]*\.sig=/.test(pair) === isSignature),
    );
    return (values ?? []).flatMap((value) => (signatures ?? []).map((one) => `${value}; ${one}`));
  });
  // The newest of each name together, then all there ever were.
  const newest = new Map(pairs.map((pair) => [pair.split('=')[0] ?? '', pair]));
  return [...new Set([...pairs, ...signed, [...newest.values()].join('; '), pairs.join('; ')])];
}

/** What a page gives to whoever has it, if it gives anything of the person. */
function worthOf(path: string, { status, headers }: Response, html: string): string[] {
  const location = headers.get('location') ?? '';
  const found = {
    'a code': /[?&]code=/.test(location),
    'a consent': /consent_required/.test(location) || /name="decision"/.test(html),
    'an account page': /\/account\/(logout|passkeys|codes|password)"/.test(html),
    'who somebody is': html.includes(ada.email),
    'a reset key': /name="key" value="./.test(html),
    'a page behind a login': status === 303 && /\/account(\/~[^/]+)?$/.test(location),
  };
  return Object.entries(found).flatMap(([what, isThere]) => (isThere ? [`${what} at ${path}`] : []));
}

/** Replays all that the app got against every page, and posts each form that comes back; gives what it won. */
async function replay(served: Served): Promise<string[]> {
  const { url } = served;
  const wide = await ask(served, 'notes:read notes:write');
  const device = await askForCode(served, await registerDevice(url));
  const paths = [
    wide.url.slice(url.length),
    `${wide.url.slice(url.length)}&prompt=none`,
    '/account',
    '/account/password',
    '/account/passkeys',
    '/account/codes',
    '/account/codes/new',
    '/account/upstreams',
    '/account/credentials',
    '/account/login?next=passkeys',
    '/account/reset',
    '/device',
    device.completeUrl.slice(url.length),
    '/session/end',
  ];
  const won = new Set<string>();
  for (const cookie of combinations())
    for (const path of paths) {
      const headers = { cookie, accept: 'text/html' };
      const first = await fetch(url + path, { headers, redirect: 'manual' });
      const html = await first.text();
      for (const one of worthOf(path.split('?')[0] ?? '', first, html)) won.add(one);
      const csrf = /name="(csrf|xsrf)" value="([^"]*)"/.exec(html);
      const action = /action="([^"]*)"/.exec(html)?.[1];
      if (!csrf || !action) continue;
      const posted = await fetch(action.replaceAll('&amp;', '&'), {
        method: 'POST',
        headers: {
          ...headers,
          cookie: [cookie, ...first.headers.getSetCookie().map((line) => line.split(';')[0])].join('; '),
          'content-type': 'application/x-www-form-urlencoded',
          'sec-fetch-site': 'same-origin',
        },
        body: new URLSearchParams([
          [csrf[1] ?? '', csrf[2] ?? ''],
          ['user_code', device.userCode],
          ['confirm', 'yes'],
          ['next', 'a password of the thief'],
          ['repeat', 'a password of the thief'],
        ]),
        redirect: 'manual',
      });
      for (const one of worthOf(new URL(action).pathname, posted, await posted.text())) won.add(one);
    }
  for (const path of [
    'logout',
    'passkeys',
    'codes',
    'codes/off',
    'codes/recovery',
    'browsers/others',
    'apps',
  ])
    for (const cookie of combinations()) {
      const { status } = await fetch(`${url}/account/${path}`, {
        method: 'POST',
        headers: {
          cookie,
          'content-type': 'application/x-www-form-urlencoded',
          'sec-fetch-site': 'same-origin',
        },
        body: '',
        redirect: 'manual',
      });
      // 403 is the answer to somebody who is logged in and lacks the token of the form alone.
      if (status !== 303) won.add(`${status} at /account/${path}`);
    }
  return [...won];
}

/** A person uses the server, with the app looking on: an authorization with one scope, the account pages, a device. */
async function liveWithTheApp(served: Served, page: Page, resetLink: string): Promise<{ tokens: Response }> {
  await page.goto((await ask(served, 'notes:read')).url);
  await lurk(page);
  await logIn(page);
  await lurk(page);
  await page.goto((await ask(served, 'notes:read')).url);
  if (page.url().includes('/interaction/') && (await page.locator('input[name=password]').count()) > 0)
    await logIn(page);
  const flow = await ask(served, 'notes:read');
  await page.goto(flow.url);
  if ((await page.locator('input[name=password]').count()) > 0) await logIn(page);
  await page.getByRole('button', { name: 'Allow' }).click();
  await arrive(page);
  expect(await page.title()).toBe('Back in the app');
  const tokens = await redeem(served.url, flow, app.codes.at(-1) ?? '');
  await lurk(page);

  await page.goto(`${served.url}/account`);
  if ((await page.locator('input[name=password]').count()) > 0) await logIn(page);
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Your account');
  await lurk(page);
  await page
    .getByRole('link', { name: /passkey/i })
    .first()
    .click();
  await lurk(page);

  const other = await page.context().newPage();
  await other.goto(resetLink);
  expect(await other.locator('input[name=next]').count()).toBe(1);
  await other.goto((await askForCode(served, await registerDevice(served.url))).completeUrl);
  await lurk(page);
  return { tokens };
}

// Some thousand requests, with a browser in between.
describe('an app that listens at another port of localhost (FA-05, T-208)', { timeout: 180_000 }, () => {
  it('wins nothing with any cookie that the browser sends it, while its person works with the server', async () => {
    const { page } = await openPage(scene.browser);
    const { tokens } = await liveWithTheApp(scene.served, page, await makeResetLink(scene));
    expect(((await tokens.json()) as { scope: string }).scope).toBe('notes:read');
    expect(app.cookies.size).toBeGreaterThan(5);

    expect(await replay(scene.served)).toEqual([]);
    expect(app.received.join('\n')).not.toMatch(/\/account\/~|[?&]pass=/);

    // The person's own page is still theirs.
    await page.goBack();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Your account');
  });

  it('wins the account by the same means where dangerously.trustOtherPorts is on', async () => {
    const served = await serveGatehouse([], { dangerously: { trustOtherPorts: true } });
    onTestFinished(() => served.stop());
    app.cookies.clear();
    const { page } = await openPage(scene.browser);
    await liveWithTheApp(served, page, await makeResetLink({ ...scene, served }));
    expect(await replay(served)).toEqual(
      expect.arrayContaining(['an account page at /account', 'a consent at /authorize']),
    );
  });
});
