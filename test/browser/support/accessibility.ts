import axe from 'axe-core';

// axe-core is what browsers' own accessibility panels and most checkers are made of.

/** WCAG 2.2 at level AA, and what axe itself recommends. */
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Gives what is wrong with a page for people who hear, enlarge or cannot point, as it is shown now. */
export async function findFaults(page: { evaluate(source: string): Promise<unknown> }): Promise<string[]> {
  await page.evaluate(`${axe.source}; undefined`);
  const options = JSON.stringify({ runOnly: rules, resultTypes: ['violations'] });
  const { violations } = (await page.evaluate(`axe.run(document, ${options})`)) as axe.AxeResults;
  return violations.map(
    ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' ')}`,
  );
}
