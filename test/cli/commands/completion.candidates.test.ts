import { describe, expect, it } from 'vitest';
import { choiceCases, completables, quote, quotedPaths } from '../../../src/cli/commands/completion.ts';
import { sampleProgram } from '../support/sample-program.ts';

const all = completables(sampleProgram());

describe('what can be completed', () => {
  it('is every command by its way down from the program', () => {
    expect(quotedPaths(all)).toEqual(["'reach'", "'account'", "'account add'", "'account list'"]);
    expect(all[0]?.subcommands.map(({ name }) => name)).toEqual(['reach', 'account', 'help']);
  });

  it('is every option that is shown, with what it takes', () => {
    expect(all[1]?.options).toMatchObject([
      { long: '--transport', takesValue: true, choices: ['http', 'sse'] },
      { long: '--file', takesValue: true, choices: [] },
      { long: '--json', takesValue: false },
      { long: '--help', takesValue: false },
    ]);
    expect(choiceCases(all)).toEqual([['--transport', 'http sse']]);
  });

  it('is quoted for shells', () => {
    expect(quote(`it's "a" $b`)).toBe(`'it'\\''s "a" $b'`);
  });
});
