import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { repository } from './program.ts';

/** What a page complained about: console errors, policy violations, failed scripts. */
export type Complaints = string[];

/** Starts a real Chromium: `CHROMIUM_PATH`, else the one of Debian. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

/**
 * Opens a page in a browser profile of its own, with JavaScript off as some people have it.
 * @param options Playwright's, over that
 */
export async function openPage(
  browser: Browser,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<{ context: BrowserContext; page: Page; complaints: Complaints }> {
  const context = await browser.newContext({ javaScriptEnabled: false, ...options });
  const complaints: Complaints = [];
  const page = await context.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  return { context, page, complaints };
}

/** Waits until a page is where a posted form leads: one of ours navigates on behind a form. */
export async function arrive(page: Page): Promise<void> {
  await page.waitForLoadState('domcontentloaded');
  await page.locator('meta[http-equiv="refresh"]').waitFor({ state: 'detached' });
  await page.waitForLoadState('domcontentloaded');
}

/** Keeps a picture of a whole page under artifacts/screenshots. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  const folder = join(repository, 'artifacts/screenshots');
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}

/**
 * Does something with the history of a page. Right after a form was posted Chromium may not have attached the page yet
 * ("Not attached to an active page"): it is then asked again, a few times.
 */
export async function whenAttached<T>(act: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await act();
    } catch (error) {
      if (attempt === 5 || !String(error).includes('Not attached to an active page')) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}
