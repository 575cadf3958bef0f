/**
 * Makes the pictures of the consent page for the README, docs/consent.png and docs/consent-dark.png: a program logs in at
 * the notes server, and Chromium shows what its person is asked.
 *
 *     node scripts/picture-consent.ts
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { ada, startGatehouse } from '../test/support/gatehouse.ts';
import { authorization, register } from '../test/support/oauth.ts';

const root = join(import.meta.dirname, '..');
const redirectUri = 'http://127.0.0.1:46717/callback';

/** Opens an authorization request and logs in, up to the consent page. */
async function openConsent(tab: Page, url: string): Promise<void> {
  await tab.goto(url);
  await tab.locator('[name=email]').fill(ada.email);
  await tab.locator('[name=password]').fill(ada.password);
  await tab.getByRole('button', { name: 'Log in' }).click();
  await tab.getByRole('button', { name: 'Allow' }).waitFor();
}

const gatehouse = await startGatehouse();
const executablePath = execFileSync(join(root, 'scripts/find-chromium'), { encoding: 'utf8' }).trim();
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
try {
  const { client_id: clientId } = await register(gatehouse.url, {
    client_name: 'Notes on my laptop',
    redirect_uris: [redirectUri],
  });
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({
      colorScheme,
      deviceScaleFactor: 2,
      viewport: { width: 450, height: 900 },
    });
    const tab = await context.newPage();
    await openConsent(tab, authorization(gatehouse, clientId, { redirect_uri: redirectUri }).url);
    // The buttons stay at the lower edge of a window that is shorter than the page.
    const height = Number(await tab.evaluate('document.documentElement.scrollHeight'));
    await tab.setViewportSize({ width: 450, height });
    const path = join(root, 'docs', colorScheme === 'light' ? 'consent.png' : 'consent-dark.png');
    await tab.screenshot({ path, fullPage: true });
  }
} finally {
  await browser.close();
  await gatehouse.stop();
}
