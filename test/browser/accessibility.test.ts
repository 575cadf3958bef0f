import axe from 'axe-core';
import { describe, expect, it } from 'vitest';
import { openPage } from '../support/browser.ts';
import { setScene } from './support/login.ts';
import { everyPage } from './support/pages.ts';

// axe-core is what browsers' own accessibility panels and most checkers are made of.

const scene = setScene();

/** WCAG 2.2 at level AA, and what axe itself recommends. */
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

async function findFaults(page: { evaluate(source: string): Promise<unknown> }): Promise<string[]> {
  await page.evaluate(`${axe.source}; undefined`);
  const options = JSON.stringify({ runOnly: rules });
  const { violations } = (await page.evaluate(`axe.run(document, ${options})`)) as axe.AxeResults;
  return violations.map(
    ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' ')}`,
  );
}

describe.each([
  ['en', 'light'],
  ['zh-CN', 'dark'],
] as const)('to people who hear, enlarge or cannot point, in %s and %s colours,', (locale, colorScheme) => {
  it.each(everyPage)('$name is accessible (WCAG 2.2 AA)', async ({ open }) => {
    const { page } = await openPage(scene.browser, { javaScriptEnabled: true, locale, colorScheme });
    await open(scene, page);
    expect(await findFaults(page)).toEqual([]);
  });
});

it('a page with a fault is found out', async () => {
  const { page } = await openPage(scene.browser, { javaScriptEnabled: true });
  await page.setContent('<html><body><img src="x"><p style="color:#999">faint</p></body></html>');
  const faults = (await findFaults(page)).map((fault) => fault.split(':')[0]);
  expect(faults).toEqual(expect.arrayContaining(['image-alt', 'color-contrast', 'html-has-lang']));
});
