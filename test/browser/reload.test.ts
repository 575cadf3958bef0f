import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { openPage } from '../support/browser.ts';
import { turnCodesOn } from './support/account-pages.ts';
import { setScene } from './support/login.ts';

const scene = setScene();

const recoveryCodes = (page: Page) => page.locator('.codes li').allTextContents();

describe('a page that is loaded once more', () => {
  it('shows the same recovery codes, and those work: none are made anew', async () => {
    const { page } = await openPage(scene.browser, { locale: 'en' });
    await turnCodesOn(scene, page);
    const first = await recoveryCodes(page);
    expect(first).toHaveLength(10);
    await page.reload();
    expect(await recoveryCodes(page)).toEqual(first);

    await page.goto(`${scene.served.url}/account/codes`);
    await page.getByRole('button', { name: 'Make new recovery codes' }).click();
    const renewed = await recoveryCodes(page);
    expect(renewed).not.toEqual(first);
    await page.reload();
    await page.reload();
    expect(await recoveryCodes(page)).toEqual(renewed);
  });
});
