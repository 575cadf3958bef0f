// src/authorization-server/account/activity-page.ts
// src/authorization-server/views/account/activity.ts
import { expect, it } from 'vitest';
import { keepPicture, openPage } from '../support/browser.ts';
import { findFaults } from './support/accessibility.ts';
import { openActivity, ownPage } from './support/account-pages.ts';
import { setScene } from './support/login.ts';

const scene = setScene();

it('The page of an app with 50,000 calls shows sums by tool, used accounts and fifty calls, and leads to older ones without script', async () => {
  const { page } = await openPage(scene.browser, { javaScriptEnabled: false });
  const began = performance.now();
  await openActivity(scene, page, 50_000);
  console.log(`50,000 calls were recorded and shown within ${Math.round(performance.now() - began)} ms`);
  const shown = performance.now();
  await page.reload();
  console.log(`the page takes ${Math.round(performance.now() - shown)} ms`);
  const lists = page.locator('ul.items');
  expect(await lists.count()).toBe(2);
  expect(await lists.nth(0).locator('li').count()).toBe(12);
  expect(await lists.nth(1).locator('li').count()).toBe(50);
  expect(await page.locator('main').textContent()).toContain('github');
  const newest = await lists.nth(1).locator('li').first().textContent();
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [360, 1280]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      if (process.env.GATEHOUSE_PICTURES) await keepPicture(page, `activity-${colorScheme}-${width}`);
    }
  await page.getByRole('link', { name: 'Older calls' }).click();
  // Sums are on the first page.
  expect(await page.locator('ul.items').count()).toBe(1);
  expect(await page.locator('ul.items li').count()).toBe(50);
  expect(await page.locator('ul.items li').first().textContent()).not.toBe(newest);
});

it('The page of another person\u2019s app is not found (T-124)', async () => {
  const { page } = await openPage(scene.browser);
  await openActivity(scene, page);
  const response = await page.goto(ownPage(page, '/activity?app=not-an-app-of-mine'));
  expect(response?.status()).toBe(404);
});

it('The page has no fault that axe finds', async () => {
  const { page } = await openPage(scene.browser, { javaScriptEnabled: true });
  await openActivity(scene, page);
  expect(await findFaults(page)).toEqual([]);
});
