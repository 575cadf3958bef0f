import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { openPage } from '../support/browser.ts';
import { makeResetLink, ownPage, turnCodesOn } from './support/account-pages.ts';
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

    await page.goto(ownPage(page, '/codes'));
    await page.getByRole('button', { name: 'Make new recovery codes' }).click();
    const renewed = await recoveryCodes(page);
    expect(renewed).not.toEqual(first);
    await page.reload();
    await page.reload();
    expect(await recoveryCodes(page)).toEqual(renewed);
  });
});

describe('a reset link that is opened out of a page of another site', () => {
  it('stands in no address bar and no history; the form can be loaded again, and so can the page after it', async () => {
    const person = { email: `reset${process.pid}@example.com`, password: 'the first password' };
    await scene.served.addAccount(person);
    const link = await makeResetLink(scene, person);
    const clean = new RegExp(`^${scene.served.url}/account/reset\\?page=[\\w-]{22}$`);
    const { page, context } = await openPage(scene.browser, { locale: 'en', javaScriptEnabled: true });
    await page.goto(scene.callback.url);
    await page.setContent(`<a href="${link}">Set a new password</a>`);
    await page.getByRole('link').click();
    await page.getByLabel('New password', { exact: true }).waitFor();
    expect(page.url()).toMatch(clean);
    const devtools = await context.newCDPSession(page);
    const { entries } = await devtools.send('Page.getNavigationHistory');
    expect(entries.at(-1)?.url).toMatch(clean);
    expect(JSON.stringify(entries.map(({ url }) => url))).not.toContain('key=');
    expect(await page.evaluate('document.referrer + document.cookie')).not.toContain('reset');

    await page.reload();
    await page.getByLabel('New password', { exact: true }).fill('a password made today');
    await page.getByLabel('Repeat the new password').fill('a password made today');
    await page.getByRole('button', { name: 'Set the password' }).click();
    await page.getByRole('heading', { name: 'The password was set' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'The password was set' }).waitFor();
    expect(
      (await context.cookies(`${scene.served.url}/account/reset`)).filter(({ name }) =>
        name.includes('reset'),
      ),
    ).toEqual([]);
  });
});
