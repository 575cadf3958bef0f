import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { arrive, openPage, startBrowser } from '../support/browser.ts';
import { type Callback, startCallback } from '../support/callback.ts';
import { createCertificate } from '../support/certificate.ts';
import { type RunningGatehouse, startGatehouse } from '../support/gatehouse.ts';
import { authorization } from '../support/oauth.ts';
import { logIn } from './support/login.ts';

let browser: Browser;
let callback: Callback;
const servers: RunningGatehouse[] = [];

beforeAll(async () => {
  const certificate = createCertificate(['localhost', '127.0.0.1']);
  for (const _ of [1, 2]) servers.push(await startGatehouse({ certificate }));
  callback = await startCallback();
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
  await callback?.stop();
  for (const server of servers) await server.stop();
});

/** Logs in to a server for an app, and lets it in. */
async function letAppIn(server: RunningGatehouse, page: Page, context: BrowserContext): Promise<void> {
  const registered = await context.request.post(`${server.url}/register`, {
    data: { client_name: 'Notes', redirect_uris: [callback.url] },
  });
  const { client_id } = (await registered.json()) as { client_id: string };
  await page.goto(authorization(server, client_id, { redirect_uri: callback.url }).url);
  await logIn(page);
  await page.locator('button[value=allow]').click();
  await arrive(page);
  expect(await page.title()).toBe('Back in the app');
}

describe('over TLS, servers on ports of one host', () => {
  it('keep their logins apart, in cookies that no other host can set (T-121)', async () => {
    const { page, context, complaints } = await openPage(browser, { ignoreHTTPSErrors: true });
    for (const server of servers) await letAppIn(server, page, context);
    expect(callback.arrived.map(({ searchParams }) => searchParams.get('iss'))).toEqual(
      servers.map(({ url }) => url),
    );

    const sessions = (await context.cookies()).filter(({ name }) =>
      /^__Host-gatehouse-session-\d+$/.test(name),
    );
    expect(sessions.map(({ name }) => name.split('-').at(-1)).sort()).toEqual(
      servers.map(({ url }) => new URL(url).port).sort(),
    );
    for (const cookie of sessions)
      expect(cookie).toMatchObject({
        domain: 'localhost',
        path: '/',
        secure: true,
        httpOnly: true,
        sameSite: 'Lax',
      });

    const [first, second] = servers.map(({ url }) => `${url}/account`) as [string, string];
    for (const account of [first, second]) {
      await page.goto(account);
      expect(page.url()).toBe(account);
    }
    await page.goto(first);
    await page.getByRole('button', { name: 'Log out', exact: true }).click();
    await page.goto(first);
    expect(page.url()).toContain('/account/login');
    await page.goto(second);
    expect(page.url()).toBe(second);
    expect(complaints).toEqual([]);
  });
});
