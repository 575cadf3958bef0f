// Pictures are kept where GATEHOUSE_PICTURES is set: GATEHOUSE_PICTURES=1 npx vitest run test/browser/pages.test.ts
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { keepPicture, openPage } from '../support/browser.ts';
import { oneIn } from '../support/share.ts';
import { findFaults } from './support/accessibility.ts';
import { inject, outcome, watchAttacker } from './support/attacker.ts';
import { setScene } from './support/login.ts';
import { everyPage } from './support/pages.ts';

const scene = setScene({ withUpstream: true });
type Scheme = 'light' | 'dark';
const schemes: readonly Scheme[] = ['light', 'dark'];
const widths = [360, 1280];
const keepsPictures = process.env.GATEHOUSE_PICTURES !== undefined;

/** Words of buttons side by side that do not stand in one line. */
const brokenButtons = `[...document.querySelectorAll('.decision button')]
  .filter((button) => button.clientHeight > 60).map((button) => button.innerText)`;

/**
 * Keeps the picture where somebody wants it, and expects that nothing has to be scrolled sideways (WCAG 2.2, 1.4.10) and
 * that what a person decides by can be read in one line.
 */
async function look(page: Page, name: string): Promise<void> {
  if (keepsPictures) await keepPicture(page, name);
  const sizes = await page.evaluate('[document.documentElement.scrollWidth, innerWidth]');
  const [content, window] = sizes as [number, number];
  expect(content, name).toBeLessThanOrEqual(window);
  expect(await page.evaluate(brokenButtons), name).toEqual([]);
}

/** What a browser says of each page that answers with an error status. */
const errorStatus = /the server responded with a status of 4\d\d/;

/** What an attacker puts into a page neither runs, nor loads anything, nor moves its links (T-017, T-198). */
async function expectHarmless(page: Page, complaints: string[]): Promise<void> {
  const asked = await watchAttacker(page);
  await inject(page);
  expect(await outcome(page)).toEqual({ ran: undefined, base: page.url() });
  expect(complaints.filter((one) => /script-src/.test(one)).length).toBeGreaterThanOrEqual(3);
  expect(asked).toEqual([]);
}

/** The guard against foreign scripts and the style are the same on each page. */
const attacked = oneIn(3, everyPage);

describe.each([
  ['en', 'light', everyPage],
  ['zh-CN', 'dark', oneIn(3, everyPage)],
] as const)('in %s', (locale, checkedScheme, pages) => {
  it.each(pages)(
    '$name stands in one column, in its language, accessible (WCAG 2.2 AA) and without complaints, in each width, and runs nothing of others (T-017, T-198)',
    async (shown) => {
      const { name, open, clear } = shown;
      onTestFinished(() => clear?.(scene));
      // What axe finds lies in the markup and the style, which are the same in each language: every second page in the
      // dark, all of them in the light.
      const isExamined = locale === 'en' || everyPage.findIndex((one) => one.name === name) % 2 === 0;
      const { page, complaints } = await openPage(scene.browser, { javaScriptEnabled: true, locale });
      await open(scene, page);
      for (const colorScheme of keepsPictures ? schemes : [checkedScheme]) {
        await page.emulateMedia({ colorScheme });
        for (const width of widths) {
          await page.setViewportSize({ width, height: 800 });
          await look(page, `${name}-${locale}-${colorScheme}-${width}`);
        }
        if (colorScheme === checkedScheme && isExamined) expect(await findFaults(page), name).toEqual([]);
      }
      expect(await page.locator('html').getAttribute('lang')).toBe(locale);
      expect(complaints.filter((complaint) => !errorStatus.test(complaint))).toEqual([]);
      if (locale === 'en' && attacked.includes(shown)) await expectHarmless(page, complaints);
    },
  );
});
