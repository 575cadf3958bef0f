import { spawn } from 'node:child_process';
import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { isRunning, processSpace } from '../../../src/client/node/process-space.ts';
import { runFile } from '../support/child.ts';

describe('the space of process ids', () => {
  it('is this machine, and the same for every process of it', async () => {
    expect(processSpace()).toContain(hostname());
    const module = new URL('../../../src/client/node/process-space.ts', import.meta.url).href;
    const script = `import(${JSON.stringify(module)}).then((m) => process.stdout.write(m.processSpace()))`;
    const child = runFile('-e', [script]);
    expect([await child.ended, child.output.stdout]).toEqual([0, processSpace()]);
  });
});

describe('a process', () => {
  it('runs until it ends', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    const { pid = 0 } = child;
    expect([isRunning(pid), isRunning(process.pid)]).toEqual([true, true]);
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('close', resolve));
    expect(isRunning(pid)).toBe(false);
  });
});
