import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { bashCompletion, completables } from '../../../src/cli/commands/completion.ts';
import { sampleProgram } from '../support/sample-program.ts';

const script = bashCompletion('sample', completables(sampleProgram()));

/** What bash offers for a line, whose last word is being typed. */
function offered(...words: string[]): string[] {
  const line = words.map((word) => `'${word}'`).join(' ');
  const code = `${script}\nCOMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _sample_completion; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['-c', code], { encoding: 'utf8' }).trim().split('\n');
}

describe('completion in bash', () => {
  it.each([
    [
      ['sample', ''],
      ['reach', 'account', 'help', '--help'],
    ],
    [['sample', 'ac'], ['account']],
    [
      ['sample', 'account', ''],
      ['add', 'list', 'help', '--help'],
    ],
    [['sample', 'account', 'add', '--q'], ['--quiet']],
    [
      ['sample', 'reach', 'http://x', '--'],
      ['--transport', '--file', '--json', '--help'],
    ],
    [
      ['sample', 'reach', '--transport', ''],
      ['http', 'sse'],
    ],
    [['sample', 'reach', '--file', '/etc/passw'], ['/etc/passwd']],
  ])('of %j offers %j', (words, expected) => {
    expect(offered(...words).filter((word) => word !== '/etc/passwd-')).toEqual(expected);
  });
});
