import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { shellWord } from '../../src/client/quote.ts';

it.each(['plain-1.2/x', 'two words', "it's", '$HOME `id` "x" \\ ;', '', '*'])(
  'is one word of a shell, and nothing of it is run: %s',
  (text) => {
    expect(execFileSync('sh', ['-c', `printf %s ${shellWord(text)}`], { encoding: 'utf8' })).toBe(text);
  },
);
