import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { keepPicture, openPage } from '../support/browser.ts';
import { setScene } from './support/login.ts';
import { everyPage } from './support/pages.ts';

const scene = setScene();
const schemes = ['light', 'dark'] as const;
const widths = [360, 1280];
const locales = ['en', 'zh-CN'];
const views = locales.flatMap((locale) =>
  schemes.flatMap((colorScheme) => widths.map((width) => ({ locale, colorScheme, width }))),
);

/** Keeps the picture, and expects that nothing has to be scrolled sideways (WCAG 2.2, 1.4.10). */
async function look(page: Page, name: string): Promise<void> {
  await keepPicture(page, name);
  const sizes = await page.evaluate('[document.documentElement.scrollWidth, innerWidth]');
  const [content, window] = sizes as [number, number];
  expect(content, name).toBeLessThanOrEqual(window);
}

/** What a browser says of each page that answers with an error status. */
const errorStatus = /the server responded with a status of 4\d\d/;

describe.each(views)('in $locale, $colorScheme colours, $width pixels wide', (view) => {
  const { locale, colorScheme, width } = view;

  it.each(everyPage)(
    '$name stands in one column, in its language, without complaints',
    async ({ name, open }) => {
      const viewport = { width, height: 800 };
      const { page, complaints } = await openPage(scene.browser, { colorScheme, locale, viewport });
      await open(scene, page);
      await look(page, `${name}-${locale}-${colorScheme}-${width}`);
      expect(await page.locator('html').getAttribute('lang')).toBe(locale);
      expect(complaints.filter((complaint) => !errorStatus.test(complaint))).toEqual([]);
    },
  );
});
