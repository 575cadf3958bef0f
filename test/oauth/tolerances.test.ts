import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { toleranceNames, tolerances } from '../../src/oauth/tolerances.ts';

describe('the list of tolerances', () => {
  it.each(toleranceNames)(
    'says of %s what is taken, what happens otherwise, and where that is told',
    (name) => {
      const { takes, otherwise, strictly, becauseOf, from } = tolerances[name];
      for (const text of [takes, otherwise, becauseOf]) expect(text).toMatch(/^\S.{10,}[^.]$/);
      expect(strictly).toMatch(/^(RFC \d+|OpenID) /);
      expect(from).toMatch(/^https:\/\//);
    },
  );

  it('is the table of docs/tolerances.md, row by row', () => {
    const page = readFileSync(new URL('../../docs/tolerances.md', import.meta.url), 'utf8');
    const [first = ''] = page.split('## What is read of servers');
    const rows = first.split('\n').filter((line) => line.startsWith('| `'));
    expect(rows).toEqual(
      toleranceNames.map((name) => {
        const { takes, otherwise, strictly, becauseOf, from } = tolerances[name];
        return `| \`${name}\` | ${takes} | ${otherwise} | ${strictly} | [${becauseOf}](${from}) |`;
      }),
    );
  });
});
