// pages.test.ts runs this check over every page.
import { expect, it } from 'vitest';
import { openPage } from '../support/browser.ts';
import { findFaults } from './support/accessibility.ts';
import { setScene } from './support/login.ts';

const scene = setScene();

it('a page with a fault is found out', async () => {
  const { page } = await openPage(scene.browser, { javaScriptEnabled: true });
  await page.setContent('<html><body><img src="x"><p style="color:#999">faint</p></body></html>');
  const faults = (await findFaults(page)).map((fault) => fault.split(':')[0]);
  expect(faults).toEqual(expect.arrayContaining(['image-alt', 'color-contrast', 'html-has-lang']));
});
