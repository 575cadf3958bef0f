import type { Page } from 'playwright-core';
import { arrive } from '../../support/browser.ts';
import { faults } from '../../support/upstreams/front.ts';
import type { OpenIdUpstream } from '../../support/upstreams/open-id.ts';
import { lin, omar, type UpstreamPerson } from '../../support/upstreams/people.ts';
import type { Scene } from './login.ts';
import type { KnownPage } from './pages.ts';

/** The upstream of a scene that has one. */
export function workOf({ work }: Scene): OpenIdUpstream {
  if (!work) throw new Error('this scene has no upstream');
  return work;
}

/** Chooses the upstream on the login page: the page of its approval follows. */
export async function chooseWork(page: Page): Promise<void> {
  await page.locator('button[name=upstream]').click();
}

/** Allows the app, and goes on to the upstream. */
export async function goToWork(page: Page): Promise<void> {
  await page.locator('button[value=allow]').click();
  await arrive(page);
}

/** Logs in on the pages of the upstream, and allows us there, or not. */
export async function logInAtWork(
  page: Page,
  { login, password }: UpstreamPerson = lin,
  answer: 'allow' | 'deny' = 'allow',
): Promise<void> {
  await page.locator('input[name=login]').fill(login);
  await page.locator('input[name=password]').fill(password);
  await page.locator('button[name=answer]').click();
  await page.locator(`button[name=answer][value=${answer}]`).click();
}

async function walkTo(scene: Scene, page: Page, who: UpstreamPerson = lin): Promise<void> {
  await page.goto((await scene.begin()).url);
  await chooseWork(page);
  await goToWork(page);
  await logInAtWork(page, who);
}

/** The pages around a login at an upstream. */
export const upstreamPages: readonly KnownPage[] = [
  {
    name: 'upstream-approve',
    async open(scene, page) {
      await page.goto((await scene.begin()).url);
      await chooseWork(page);
    },
  },
  {
    name: 'upstream-consent',
    async open(scene, page) {
      await walkTo(scene, page);
      await page.goto((await scene.begin()).url);
    },
  },
  {
    name: 'upstream-fault',
    async open(scene, page) {
      const work = workOf(scene);
      work.fault('/token', faults.page(500));
      await walkTo(scene, page);
      work.behave();
    },
  },
  { name: 'upstream-not-admitted', open: (scene, page) => walkTo(scene, page, omar) },
];
