import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { arrive, startBrowser } from '../../support/browser.ts';
import { type Callback, startCallback } from '../../support/callback.ts';
import { ada } from '../../support/gatehouse.ts';
import { authorization, type Flow, register } from '../../support/oauth.ts';
import { type Served, serveGatehouse } from '../../support/served.ts';
import { type OpenIdUpstream, startOpenIdUpstream } from '../../support/upstreams/open-id.ts';

/** What a test file of this folder works with: one server, one browser, one client with its listener. */
export interface Scene {
  served: Served;
  browser: Browser;
  callback: Callback;
  /** Another login people may come through, where the test asks for one. */
  work?: OpenIdUpstream;
  /** A folder for the logins of the command line. */
  home: string;
  /** A new authorization request of a newly registered client. */
  begin(name?: string): Promise<Flow>;
}

const settingsFor = (work: OpenIdUpstream) => ({
  dangerously: { upstreamsOverHttp: true },
  upstreams: {
    work: work.settings({
      label: 'Work',
      scopes: ['openid', 'profile', 'email'],
      accounts: { create: true, allow: { domains: ['work.example'] } },
    }),
  },
});

/**
 * Sets the scene for a test file; every browser profile is closed after its test.
 * @param withUpstream whether people may also come through an upstream called "Work", if their address is of work.example
 */
export function setScene({ withUpstream = false } = {}): Scene {
  const scene = {
    async begin(name = 'Notes on my laptop') {
      const { client_id } = await register(scene.served.url, {
        client_name: name,
        redirect_uris: [scene.callback.url],
      });
      return authorization(scene.served, client_id, { redirect_uri: scene.callback.url });
    },
  } as Scene;
  beforeAll(async () => {
    scene.home = await mkdtemp(join(tmpdir(), 'gatehouse-home-'));
    if (withUpstream) scene.work = await startOpenIdUpstream();
    scene.served = await serveGatehouse([], scene.work ? settingsFor(scene.work) : {});
    scene.work?.allow(`${scene.served.url}/upstream/work/callback`);
    scene.callback = await startCallback();
    scene.browser = await startBrowser();
  });
  afterEach(async () => {
    for (const context of scene.browser.contexts()) await context.close();
    scene.callback.arrived.length = 0;
  });
  afterAll(async () => {
    await scene.browser?.close();
    await scene.callback?.stop();
    await scene.served?.stop();
    await scene.work?.stop();
    await rm(scene.home, { recursive: true, force: true });
  });
  return scene;
}

/** Types the e-mail address and the password, and presses Enter or the button; in any language. */
export async function logIn(
  page: Page,
  { email, password }: { email: string; password: string } = ada,
  by: 'button' | 'Enter' = 'button',
): Promise<void> {
  const form = page.locator('form').filter({ has: page.locator('input[name=password]') });
  await form.locator('input[name=email]').fill(email);
  await form.locator('input[name=password]').fill(password);
  if (by === 'button') await form.locator('button.primary').click();
  else await form.locator('input[name=password]').press('Enter');
  await arrive(page);
}
