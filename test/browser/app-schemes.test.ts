// Over src/authorization-server/interactions/page.ts: apps whose https callback leads on to a scheme of their own.
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPage } from '../support/browser.ts';
import { createCertificate } from '../support/certificate.ts';
import { authorization, type Flow, redeem, register } from '../support/oauth.ts';
import { faults } from '../support/upstreams/front.ts';
import { logIn, setScene } from './support/login.ts';
import { chooseWork, goToWork, logInAtWork, workOf } from './support/upstream-pages.ts';

const scene = setScene({ withUpstream: true });

/** A website of an app, whose callback opens the app: `/claude/callback` goes on to `claude://callback`. */
let site: { url: string; stop(): Promise<unknown> };

beforeAll(async () => {
  const server = createServer(createCertificate(['localhost']), (request, response) => {
    const { pathname, search } = new URL(request.url ?? '/', 'https://localhost');
    const [, scheme, place] = pathname.split('/');
    response.writeHead(302, { location: `${scheme}://${place}${search}` }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  site = {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    stop: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  };
});
afterAll(() => site.stop());

/** A browser without scripts, the app's login in it, and what the system is asked to open. */
interface Login {
  page: Page;
  flow: Flow;
  complaints: string[];
  /** Waits for the app to be opened. */
  openedApp(): Promise<URL>;
}

async function beginLogin(scheme: string, parameters: Record<string, string> = {}): Promise<Login> {
  const { page, complaints } = await openPage(scene.browser, { ignoreHTTPSErrors: true });
  const opened: URL[] = [];
  page.on('request', (request) => {
    if (request.url().startsWith(`${scheme}:`)) opened.push(new URL(request.url()));
  });
  const redirectUri = `${site.url}/${scheme}/callback`;
  const { client_id } = await register(scene.served.url, {
    client_name: 'Notes on my desk',
    redirect_uris: [redirectUri],
    post_logout_redirect_uris: [`${site.url}/${scheme}/bye`],
  });
  const flow = authorization(scene.served, client_id, { redirect_uri: redirectUri, ...parameters });
  await page.goto(flow.url);
  return {
    page,
    flow,
    complaints,
    async openedApp() {
      await expect.poll(() => opened.length).toBe(1);
      return opened[0] as URL;
    },
  };
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

describe.each(['claude', 'vscode'])('behind an https callback that goes on to %s://', (scheme) => {
  it('the app gets its code after Allow, with scripts off (FA-21)', async () => {
    const { page, flow, complaints, openedApp } = await beginLogin(scheme);
    await logIn(page);
    await button(page, 'Allow').click();
    const { searchParams } = await openedApp();
    expect(searchParams.get('state')).toBe(flow.state);
    expect((await redeem(scene.served.url, flow, searchParams.get('code') ?? '')).status).toBe(200);
    expect(complaints).toEqual([]);
    // The app has its own window: the browser stays at a page of ours, which says what happened and holds no code.
    expect(await page.locator('h1').textContent()).toBe('Back to the app');
    expect(await page.content()).not.toContain(searchParams.get('code') ?? '');
    expect(await page.getByRole('link', { name: 'Continue' }).count()).toBe(1);
  });

  it('the app is told access_denied after Deny (FA-21)', async () => {
    const { page, complaints, openedApp } = await beginLogin(scheme);
    await logIn(page);
    await button(page, 'Deny').click();
    expect((await openedApp()).searchParams.get('error')).toBe('access_denied');
    expect(complaints).toEqual([]);
  });

  it('the app gets its code after an approval and a login at an upstream (FA-21)', async () => {
    const { page, flow, openedApp } = await beginLogin(scheme);
    await chooseWork(page);
    await goToWork(page);
    await logInAtWork(page);
    await button(page, 'Allow').click();
    const { searchParams } = await openedApp();
    expect((await redeem(scene.served.url, flow, searchParams.get('code') ?? '')).status).toBe(200);
  });

  it('the app is told access_denied by the approval page before an upstream (FA-21)', async () => {
    const { page, complaints, openedApp } = await beginLogin(scheme);
    await chooseWork(page);
    await button(page, 'Deny').click();
    expect((await openedApp()).searchParams.get('error')).toBe('access_denied');
    expect(complaints).toEqual([]);
  });
});

describe('an app with a scheme of its own', () => {
  it('is told access_denied when the person cancels the login (FA-21)', async () => {
    const { page, openedApp } = await beginLogin('cursor');
    await button(page, 'Cancel').click();
    expect((await openedApp()).searchParams.get('error')).toBe('access_denied');
  });

  it('is told what failed when the person gives up after a fault of an upstream (FA-21)', async () => {
    const { page, openedApp } = await beginLogin('cursor');
    await chooseWork(page);
    workOf(scene).fault('/token', faults.page(500));
    await goToWork(page);
    await logInAtWork(page);
    workOf(scene).behave();
    await page.locator('form[action$=leave] button').click();
    expect((await openedApp()).searchParams.get('error')).toBeTruthy();
  });

  it('is gone on to after a logout that it asked for (FA-21)', async () => {
    const { page, flow, openedApp } = await beginLogin('cursor', { scope: 'openid notes:read' });
    await logIn(page);
    await button(page, 'Allow').click();
    const code = (await openedApp()).searchParams.get('code') ?? '';
    const tokens = (await (await redeem(scene.served.url, flow, code)).json()) as { id_token: string };
    const left = page.waitForEvent('request', (request) => request.url() === 'cursor://bye');
    const end = new URLSearchParams({
      id_token_hint: tokens.id_token,
      post_logout_redirect_uri: `${site.url}/cursor/bye`,
    });
    await page.goto(`${scene.served.url}/session/end?${end}`);
    await page.locator('button[name=logout]').click();
    expect((await left).isNavigationRequest()).toBe(true);
  });
});
