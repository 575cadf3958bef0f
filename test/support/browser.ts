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

/** Keeps a picture of a whole page under artifacts/screenshots. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  const folder = join(repository, 'artifacts/screenshots');
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}
