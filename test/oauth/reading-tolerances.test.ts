import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readingToleranceNames, readingTolerances } from '../../src/oauth/reading-tolerances.ts';
import { toleranceNames } from '../../src/oauth/tolerances.ts';

const page = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');

describe('the list of tolerances for what servers send', () => {
  it.each(readingToleranceNames)(
    'says of %s what is read, what happens otherwise, where that is told and which check names it (FA-24 to FA-27)',
    (name) => {
      const { takes, otherwise, strictly, becauseOf, from, check } = readingTolerances[name];
      for (const text of [takes, otherwise, becauseOf]) expect(text).toMatch(/^\S.{10,}[^.]$/);
      expect(strictly).toMatch(/^RFC \d+/);
      expect(from).toMatch(/^https:\/\//);
      expect(page('doctor-checks.md')).toContain(`| \`${check}\``);
    },
  );

  it('has no name of the tolerances for clients: a line of the log says which table it is of', () => {
    expect(readingToleranceNames.filter((name) => (toleranceNames as string[]).includes(name))).toEqual([]);
  });

  it('is the second table of docs/tolerances.md, row by row (FA-49)', () => {
    const [, second = ''] = page('tolerances.md').split('## What is read of servers');
    const rows = second.split('\n').filter((line) => line.startsWith('| `'));
    expect(rows).toEqual(
      readingToleranceNames.map((name) => {
        const { takes, otherwise, strictly, becauseOf, from, check } = readingTolerances[name];
        return `| \`${name}\` | ${takes} | ${otherwise} | ${strictly} | [${becauseOf}](${from}) | \`${check}\` |`;
      }),
    );
  });
});
