import { describe, expect, it } from 'vitest';
import { runProgram } from '../support/program.ts';

async function runBench(...args: string[]) {
  const program = runProgram('bench/main.ts', args, { input: '' });
  return { code: await program.ended, ...program.written };
}

describe('npm run bench', () => {
  it('says with --help what can be measured, and starts nothing', async () => {
    const { code, stdout, stderr } = await runBench('--help');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const option of ['--only', '--quick', '--json', 'wrk', 'taskset']) expect(stdout).toContain(option);
    for (const part of ['exchange', 'refresh', 'register', 'metadata', 'gateway', 'cluster'])
      expect(stdout).toContain(part);
  });

  it.each([
    [['--only', 'modern,everything'], 'There is no part everything.'],
    [['--fast'], '--fast'],
  ])('refuses %j', async (args, sentence) => {
    const { code, stdout, stderr } = await runBench(...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(sentence);
  });
});
