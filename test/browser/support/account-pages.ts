import { Secret, TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import { arrive } from '../../support/browser.ts';
import { ada } from '../../support/gatehouse.ts';
import { recordCalls } from '../../support/recorded-calls.ts';
import { runGatehouse } from '../../support/served.ts';
import { logIn, type Scene } from './login.ts';
import type { KnownPage } from './pages.ts';

async function openAccount(scene: Scene, page: Page, path = '', person = ada): Promise<void> {
  await page.goto(`${scene.served.url}/account${path}`);
  if (page.url().includes('/account/login')) await logIn(page, person);
}

/** The address of an account page of whoever is logged in on the page that is open; without a key, a login comes first. */
export function ownPage(page: Page, path = ''): string {
  return `${/^.*?\/account(?:\/~[^/?]+)?/.exec(page.url())?.[0]}${path}`;
}

/** The account page of somebody who allowed an app all it asked for, and another one only what needs no permission. */
async function openOverview(scene: Scene, page: Page): Promise<void> {
  await page.goto((await scene.begin('Notes on my laptop')).url);
  await logIn(page);
  await page.locator('button[value=allow]').click();
  await arrive(page);
  const plain = new URL((await scene.begin('A plain app')).url);
  plain.searchParams.set('scope', 'openid');
  await page.goto(plain.href);
  await logIn(page);
  await page.locator('button[value=allow]').click();
  await arrive(page);
  await openAccount(scene, page);
}

/** The page of what an app did, with calls of the last days. */
export async function openActivity(scene: Scene, page: Page, count = 60): Promise<void> {
  await openOverview(scene, page);
  const client = (await page.locator('.item .detail').first().textContent()) ?? '';
  await recordCalls(scene.served.folder, { email: ada.email, client, count });
  await page.locator('a[href*="/activity?"]').first().click();
  await page.locator('h1', { hasText: 'A plain app' }).waitFor();
}

let people = 0;

/** Somebody new turns one-time codes on; the page then shows the recovery codes. */
export async function turnCodesOn(scene: Scene, page: Page): Promise<typeof ada> {
  const person = { email: `codes${process.pid}-${people++}@example.com`, password: 'a password for codes' };
  await scene.served.addAccount(person);
  await openAccount(scene, page, '/codes', person);
  const key = (await page.locator('dd .detail').textContent()) ?? '';
  const totp = new TOTP({ secret: Secret.fromBase32(key.replaceAll(' ', '')) });
  await page.locator('#code').fill(totp.generate());
  await page.locator('button.primary').click();
  await page.locator('.codes').waitFor();
  return person;
}

/** Makes a reset link as an operator does, at the address of the scene's server. */
export async function makeResetLink({ served }: Scene, { email } = ada): Promise<string> {
  const { stdout } = await runGatehouse(['account', 'reset', email, '--data', served.folder]);
  const { pathname, search } = new URL(stdout.trim());
  return served.url + pathname + search;
}

async function openReset(scene: Scene, page: Page): Promise<void> {
  await page.goto(await makeResetLink(scene));
}

/** The pages of `/account`, and those of a login with a one-time code. */
export const accountPages: readonly KnownPage[] = [
  {
    name: 'account-app-ending',
    async open(scene, page) {
      await openOverview(scene, page);
      await page.locator('form[action$="/apps"] button').first().click();
    },
  },
  { name: 'account', open: openOverview },
  { name: 'account-activity', open: (scene, page) => openActivity(scene, page) },
  {
    name: 'account-login',
    open: async (scene, page) => void (await page.goto(`${scene.served.url}/account/login`)),
  },
  { name: 'account-password', open: (scene, page) => openAccount(scene, page, '/password') },
  { name: 'account-passkeys', open: (scene, page) => openAccount(scene, page, '/passkeys') },
  { name: 'account-codes', open: (scene, page) => openAccount(scene, page, '/codes') },
  {
    name: 'account-codes-on',
    async open(scene, page) {
      await turnCodesOn(scene, page);
      await page.goto(ownPage(page, '/codes'));
    },
  },
  { name: 'account-recovery-codes', open: async (scene, page) => void (await turnCodesOn(scene, page)) },
  {
    name: 'account-code',
    async open(scene, page) {
      const person = await turnCodesOn(scene, page);
      await page.context().clearCookies();
      await openAccount(scene, page, '', person);
    },
  },
  { name: 'account-reset', open: openReset },
  {
    name: 'account-reset-no-link',
    open: async (scene, page) => void (await page.goto(`${scene.served.url}/account/reset`)),
  },
  {
    name: 'account-reset-done',
    open: async (scene, page) => void (await page.goto(`${scene.served.url}/account/reset?done=1`)),
  },
  {
    name: 'account-reset-gone',
    open: async (scene, page) => void (await page.goto(`${scene.served.url}/account/reset?key=gone`)),
  },
];
