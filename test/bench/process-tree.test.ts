import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { processTree, proportionalKilobytes } from '../../bench/process-tree.ts';

const children: ReturnType<typeof spawn>[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** A program that starts another one, which ends with its standard input; gives the ids of both. */
async function startTwo(): Promise<[number, number]> {
  const inner = "process.stdin.resume().on('end', () => process.exit())";
  const outer = `
    const { spawn } = require('node:child_process');
    const options = { stdio: ['pipe', 'ignore', 'ignore'] };
    console.log(spawn(process.execPath, ['-e', ${JSON.stringify(inner)}], options).pid);
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['-e', outer], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return [Number(child.pid), Number(line.toString())];
}

describe('a tree of processes', () => {
  it('is a process and what it and its children started', async () => {
    const [outer, inner] = await startTwo();
    expect(processTree(outer)).toEqual([outer, inner]);
    expect(processTree(process.pid)).toEqual(expect.arrayContaining([process.pid, outer, inner]));
  });

  it('has the memory of all its processes; of one that ended none', async () => {
    const [outer, inner] = await startTwo();
    const inKilobytes = (...pids: number[]) => proportionalKilobytes(pids);
    expect(inKilobytes(outer)).toBeGreaterThan(1000);
    // The inner one has only been begun.
    await vi.waitFor(() => expect(inKilobytes(outer, inner)).toBeGreaterThan(inKilobytes(outer) + 500));
    expect(proportionalKilobytes([2 ** 30])).toBe(0);
  });
});
