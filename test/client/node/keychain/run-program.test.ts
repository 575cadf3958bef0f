import { describe, expect, it } from 'vitest';
import { complaint, runProgram } from '../../../../src/client/node/keychain/run-program.ts';

const run = (script: string, input?: string) =>
  runProgram(process.execPath, ['-e', script], { env: {}, ...(input === undefined ? {} : { input }) });

describe('a program of the system', () => {
  it('reads its input and says how it ended', async () => {
    expect(await run('process.stdin.pipe(process.stdout)', 'hello')).toEqual({
      code: 0,
      stdout: 'hello',
      stderr: '',
    });
    expect(await run('console.error("no"); process.exitCode = 3')).toEqual({
      code: 3,
      stdout: '',
      stderr: 'no\n',
    });
  });

  it('may end without reading', async () => {
    expect((await run('process.exit(4)', 'x'.repeat(1_000_000))).code).toBe(4);
  });

  it('that is missing is named', async () => {
    await expect(runProgram('/nowhere/tool', [], { env: {} })).rejects.toThrow(
      '/nowhere/tool is not installed',
    );
  });

  it('is repeated with the first line of its complaint only', () => {
    expect(complaint('tool', { code: 1, stdout: 'secret', stderr: '\n  no bus \nmore' }).message).toBe(
      'tool ended with 1: no bus',
    );
    expect(complaint('tool', { code: 1, stdout: '', stderr: '' }).message).toBe('tool ended with 1');
  });
});
