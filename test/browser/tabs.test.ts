import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { arrive, openPage, whenAttached } from '../support/browser.ts';
import { logIn, setScene } from './support/login.ts';

const scene = setScene();

/** Expects a page of ours that says what to do, and is no failure of the server. */
async function expectAdvice(page: Page): Promise<void> {
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('This login has ended');
  expect(
    await page.getByText('Please begin again from the app, or from the page where you began.').count(),
  ).toBe(1);
}

const codes = (): (string | null)[] =>
  scene.callback.arrived.map(({ searchParams }) => searchParams.get('code'));

describe('back buttons and second tabs', () => {
  it('give one code when the same consent page is allowed in two tabs (T-028)', async () => {
    const flow = await scene.begin();
    const { page, context } = await openPage(scene.browser);
    await page.goto(flow.url);
    await logIn(page);
    const second = await context.newPage();
    await second.goto(page.url());
    await page.getByRole('button', { name: 'Allow' }).click();
    await arrive(page);
    const [answer] = await Promise.all([
      second.waitForResponse((response) => response.request().method() === 'POST'),
      second.getByRole('button', { name: 'Allow' }).click(),
    ]);
    expect(answer.status()).toBe(400);
    await expectAdvice(second);
    expect(codes()).toHaveLength(1);
  });

  it('say that the login has ended after back and another click (T-028)', async () => {
    const flow = await scene.begin();
    const { page } = await openPage(scene.browser);
    await page.goto(flow.url);
    await logIn(page);
    await page.getByRole('button', { name: 'Allow' }).click();
    await arrive(page);
    expect(await page.title()).toBe('Back in the app');
    await whenAttached(() => page.goBack());
    await expectAdvice(page);
    expect(codes()).toHaveLength(1);
  });

  it('say that the login page is over after back from consent, and forward goes on', async () => {
    const flow = await scene.begin();
    const { page } = await openPage(scene.browser);
    await page.goto(flow.url);
    await logIn(page);
    await whenAttached(() => page.goBack());
    await expectAdvice(page);
    await whenAttached(() => page.goForward());
    await page.getByRole('button', { name: 'Allow' }).click();
    await arrive(page);
    expect(await page.title()).toBe('Back in the app');
    expect(codes()).toHaveLength(1);
  });

  it('let two logins of one app, each in its tab, both end well', async () => {
    const flow = await scene.begin();
    const { page, context } = await openPage(scene.browser);
    const second = await context.newPage();
    await page.goto(flow.url);
    await second.goto(flow.url);
    await logIn(page);
    await page.getByRole('button', { name: 'Allow' }).click();
    await arrive(page);
    expect(await page.title()).toBe('Back in the app');

    await logIn(second);
    await second.getByRole('button', { name: 'Allow' }).click();
    await arrive(second);
    expect(await second.title()).toBe('Back in the app');
    expect(new Set(codes()).size).toBe(2);
  });
});
