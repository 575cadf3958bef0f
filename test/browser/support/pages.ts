import type { Page } from 'playwright-core';
import { askForCode, registerDevice } from '../../flows/device/subject.ts';
import { arrive } from '../../support/browser.ts';
import { ada } from '../../support/gatehouse.ts';
import { redeem } from '../../support/oauth.ts';
import { accountPages } from './account-pages.ts';
import { credentialPages } from './credential-pages.ts';
import { elsewherePages } from './elsewhere-pages.ts';
import { logIn, type Scene } from './login.ts';
import { passkeyPages } from './passkey-pages.ts';
import { upstreamPages } from './upstream-pages.ts';

/** A page of ours, and how a person comes to it. */
export interface KnownPage {
  name: string;
  /** Leads a fresh browser to it. */
  open(scene: Scene, page: Page): Promise<void>;
  /** Takes back what would show on other pages. */
  clear?(scene: Scene): Promise<void>;
}

async function openConsent(scene: Scene, page: Page, clientName?: string): Promise<void> {
  await page.goto((await scene.begin(clientName)).url);
  await logIn(page);
}

/** Allows an app one scope, then has it ask for both. */
async function openStepUp(scene: Scene, page: Page): Promise<void> {
  const flow = await scene.begin('Notes on my laptop');
  await page.goto(flow.url);
  await logIn(page);
  await page.locator('input[value="notes:write"]').uncheck();
  await page.locator('button[value=allow]').click();
  await arrive(page);
  const code = scene.callback.arrived.at(-1)?.searchParams.get('code') ?? '';
  const tokens = await redeem(scene.served.url, flow, code);
  if (tokens.status !== 200) throw new Error(`no tokens: ${await tokens.text()}`);
  await page.goto(flow.url);
}

async function askAsDevice(scene: Scene) {
  const { served } = scene;
  return askForCode(served, await registerDevice(served.url, { client_name: 'Notes on my lamp' }));
}

async function openDeviceConfirm(scene: Scene, page: Page): Promise<void> {
  await page.goto((await askAsDevice(scene)).completeUrl);
  await page.locator('button').click();
}

/**
 * Every page of ours. Who makes a page adds a line: it is then looked at in every colour, width and language, checked
 * for accessibility, and attacked with scripts.
 */
export const everyPage: readonly KnownPage[] = [
  { name: 'home', open: async (scene, page) => void (await page.goto(scene.served.url)) },
  { name: 'mcp-url', open: async (scene, page) => void (await page.goto(scene.served.mcpUrl)) },
  { name: 'login', open: async (scene, page) => void (await page.goto((await scene.begin()).url)) },
  {
    name: 'login-failed',
    async open(scene, page) {
      await page.goto((await scene.begin()).url);
      await logIn(page, { ...ada, password: 'wrong horse' });
    },
  },
  { name: 'consent', open: (scene, page) => openConsent(scene, page) },
  {
    name: 'onward',
    async open(scene, page) {
      await openConsent(scene, page);
      // No content: the browser stays, as it does when an app of its own opens.
      await page.route('**/authorize/*?pass=*', (route) => route.fulfill({ status: 204 }));
      await page.locator('button[value=deny]').click();
    },
  },
  { name: 'consent-step-up', open: openStepUp },
  { name: 'consent-long', open: (scene, page) => openConsent(scene, page, 'Unbreakable'.repeat(18)) },
  { name: 'device', open: async (scene, page) => void (await page.goto(`${scene.served.url}/device`)) },
  {
    name: 'device-linked',
    open: async (scene, page) => void (await page.goto((await askAsDevice(scene)).completeUrl)),
  },
  {
    name: 'device-wrong-code',
    async open(scene, page) {
      await page.goto(`${scene.served.url}/device`);
      await page.locator('input[name=user_code]').fill('BBBB-BBBB');
      await page.locator('button').click();
    },
  },
  { name: 'device-confirm', open: openDeviceConfirm },
  {
    name: 'device-consent',
    async open(scene, page) {
      await openDeviceConfirm(scene, page);
      await page.locator('button[name=confirm]').click();
      await logIn(page);
    },
  },
  {
    name: 'device-done',
    open: async (scene, page) => void (await page.goto(`${scene.served.url}/device/done`)),
  },
  {
    name: 'device-denied',
    async open(scene, page) {
      await openDeviceConfirm(scene, page);
      await page.locator('button[name=abort]').click();
    },
  },
  {
    name: 'logout',
    async open(scene, page) {
      await openConsent(scene, page);
      await page.goto(`${scene.served.url}/session/end`);
    },
  },
  {
    name: 'logout-nobody',
    open: async (scene, page) => void (await page.goto(`${scene.served.url}/session/end`)),
  },
  {
    name: 'logout-done',
    open: async (scene, page) => void (await page.goto(`${scene.served.url}/session/end/success`)),
  },
  {
    name: 'error',
    open: async (scene, page) => void (await page.goto(`${scene.served.url}/authorize?client_id=nobody`)),
  },
  ...accountPages,
  ...passkeyPages,
  ...upstreamPages,
  ...elsewherePages,
  ...credentialPages,
];
