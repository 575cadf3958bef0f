import type { Page } from 'playwright-core';
import { arrive } from '../../support/browser.ts';
import { lin } from '../../support/upstreams/people.ts';
import { logIn, type Scene } from './login.ts';
import type { KnownPage } from './pages.ts';
import { logInAtWork } from './upstream-pages.ts';

async function openElsewhere(scene: Scene, page: Page, path = ''): Promise<void> {
  await page.goto(`${scene.served.url}/account/upstreams${path}`);
  if (page.url().includes('/account/login')) await logIn(page);
}

/** Somebody who is known at the upstream logs in with it, on the account pages. */
async function comeThroughWork(scene: Scene, page: Page): Promise<void> {
  await page.goto(`${scene.served.url}/account/login`);
  await page.locator('button[name=upstream]').click();
  await arrive(page);
  await logInAtWork(page, lin);
}

/** The pages of accounts elsewhere. */
export const elsewherePages: readonly KnownPage[] = [
  { name: 'account-upstreams-none', open: openElsewhere },
  { name: 'account-upstream-link', open: (scene, page) => openElsewhere(scene, page, '/work/link') },
  {
    name: 'account-upstream-link-of-another',
    open: (scene, page) => openElsewhere(scene, page, `/work/link/${'0'.repeat(16)}`),
  },
  {
    name: 'account-upstreams',
    async open(scene, page) {
      await comeThroughWork(scene, page);
      await openElsewhere(scene, page);
    },
  },
  {
    name: 'account-upstream-unlink',
    async open(scene, page) {
      await comeThroughWork(scene, page);
      await openElsewhere(scene, page, '/work/unlink');
    },
  },
];
