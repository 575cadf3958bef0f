// Over src/authorization-server/views/content-security-policy.ts, in a browser that would run scripts. pages.test.ts does it to
// every page.
import { describe, expect, it } from 'vitest';
import { openPage } from '../support/browser.ts';
import { attackerUrl, inject, outcome, watchAttacker } from './support/attacker.ts';
import { setScene } from './support/login.ts';

const scene = setScene();

/** Opens a page of a browser that runs scripts, and notes what it asks of the attacker. */
async function openVictim() {
  const { page, complaints } = await openPage(scene.browser, { javaScriptEnabled: true });
  return { page, complaints, asked: await watchAttacker(page) };
}

describe('what an attacker puts into a page', () => {
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
