import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

/**
 * Calls a function until the second of V8's optimizing compilers has compiled it, and tells how many calls that took. It is
 * no small one, which V8 compiles early by itself.
 */
const program = `
  const { setTimeout: pause } = await import('node:timers/promises');
  if (process.argv[1] !== '') (await import(process.argv[1])).compileEarly();
  const compiledBySecond = 1 << 6;
  function read(text) {
    const parts = [];
    for (const part of text.split(',')) {
      const [name, value] = part.split('=');
      if (name === 'number') parts.push({ name, value: Number(value) });
      else if (name === 'truth') parts.push({ name, value: value === 'true' });
      else if (name === 'loud') parts.push({ name, value: value.toUpperCase() });
      else parts.push({ name, value });
    }
    return parts;
  }
  let calls = 0;
  while (calls < 20_000 && (%GetOptimizationStatus(read) & compiledBySecond) === 0) {
    for (let call = 0; call < 50; call++, calls++) read('number=1,truth=true,loud=word,other=word');
    await pause(2);
  }
  console.log(calls);
`;

const earlyCompilation = fileURLToPath(new URL('../../src/cli/early-compilation.ts', import.meta.url));

/** Gives how many calls it took. @param module what the program is to call first */
async function callsUntilCompiled(module: string): Promise<number> {
  const args = ['--allow-natives-syntax', '--input-type=module', '--eval', program, module];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { timeout: 20_000 });
  // Where V8 says that it does not know a flag.
  expect(stderr).toBe('');
  return Number(stdout);
}

it('a function is compiled after a few hundred calls, where V8 waits for thousands by itself', async () => {
  const [usual, early] = [await callsUntilCompiled(''), await callsUntilCompiled(earlyCompilation)];
  expect(usual).toBeLessThan(20_000);
  expect(early).toBeLessThanOrEqual(usual / 2);
});
