import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

/** Keeps half a megabyte of what it makes, a server's calls under way, and tells how large the space for new objects is. */
const program = `
  const { getHeapSpaceStatistics } = await import('node:v8');
  if (process.argv[1] !== '') (await import(process.argv[1])).growHeapAtOnce();
  const kept = [];
  for (let made = 0; made < 50_000; made++) kept[made % 2_000] = new Array(30).fill(made);
  const { space_size } = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  console.log(space_size);
`;

const heapGrowth = fileURLToPath(new URL('../../src/cli/heap-growth.ts', import.meta.url));

/** Gives how large the space for new objects became, in bytes. @param module what the program is to call first */
async function spaceAfterLoad(module: string): Promise<number> {
  const args = ['--input-type=module', '--eval', program, module];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 20_000 });
  return Number(stdout);
}

it('the space for new objects is as large as it gets once more lives in it than it can hold', async () => {
  const [steps, atOnce] = [await spaceAfterLoad(''), await spaceAfterLoad(heapGrowth)];
  expect(atOnce).toBeGreaterThanOrEqual(2 * steps);
});
