import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { keepPicture, openPage } from '../support/browser.ts';
import { ada } from '../support/gatehouse.ts';
import { authorization } from '../support/oauth.ts';
import { logIn, setScene } from './support/login.ts';

const scene = setScene();
const schemes = ['light', 'dark'] as const;
const widths = [360, 1280];
const views = schemes.flatMap((colorScheme) => widths.map((width) => ({ colorScheme, width })));

/** Keeps the picture, and expects that nothing has to be scrolled sideways (WCAG 2.2, 1.4.10). */
async function look(page: Page, name: string): Promise<void> {
  await keepPicture(page, name);
  const sizes = await page.evaluate('[document.documentElement.scrollWidth, innerWidth]');
  const [content, window] = sizes as [number, number];
  expect(content, name).toBeLessThanOrEqual(window);
}

describe.each(views)('in $colorScheme colours, $width pixels wide', ({ colorScheme, width }) => {
  const named = (page: string): string => `${page}-${colorScheme}-${width}`;
  const open = () => openPage(scene.browser, { colorScheme, viewport: { width, height: 800 } });

  it('login, a failed login and consent stand in one column, without complaints', async () => {
    const flow = await scene.begin();
    const { page, complaints } = await open();
    await page.goto(flow.url);
    await look(page, named('login'));
    expect(complaints).toEqual([]);
    await logIn(page, { ...ada, password: 'wrong horse' });
    await look(page, named('login-failed'));
    complaints.length = 0;
    await logIn(page);
    await look(page, named('consent'));
    expect(complaints).toEqual([]);
  });

  it('consent holds the longest words an app can choose', async () => {
    const flow = await scene.begin('Unbreakable'.repeat(18));
    const { page } = await open();
    await page.goto(flow.url);
    await logIn(page);
    await look(page, named('consent-long'));
  });

  it('an error says what to do', async () => {
    const { page } = await open();
    await page.goto(authorization(scene.served, 'nobody').url);
    expect(await page.getByText('It then registers anew.').count()).toBe(1);
    await look(page, named('error'));
  });
});
