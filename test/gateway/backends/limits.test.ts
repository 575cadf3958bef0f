import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { checkLimits, type ProcessLimits, withLimits } from '../../../src/gateway/backends/limits.ts';

function run(limits: ProcessLimits, script: string, ...more: string[]) {
  const { command, args } = withLimits(
    { command: process.execPath, args: ['-e', script, '--', ...more] },
    limits,
  );
  const { status, signal, stdout } = spawnSync(command, args, { encoding: 'utf8' });
  return { status, signal, stdout };
}

describe('the limits of a program', () => {
  it('leave its arguments as they are, whatever a shell would make of them (T-152)', () => {
    const words = ['$HOME', '`id`', '; exit 3', '-c', '\'"', '*', ''];
    const { stdout } = run({ openFiles: 64 }, 'console.log(JSON.stringify(process.argv.slice(1)))', ...words);
    expect(JSON.parse(stdout)).toEqual(words);
  });

  it('bound its memory, its processor time and its open files (T-155)', () => {
    const memory = 'const held = []; for (let i = 0; i < 300; i++) held.push(Buffer.alloc(1e7, 1))';
    expect(run({}, memory).status).toBe(0);
    expect(run({ memoryMegabytes: 1000 }, memory).status).not.toBe(0);
    expect(run({ cpuSeconds: 1 }, 'for (;;);').signal).toMatch(/SIGXCPU|SIGKILL/);
    const open =
      "let n = 0; try { for (; n < 500; n++) require('fs').openSync('/dev/null') } catch {} console.log(n)";
    expect(Number(run({ openFiles: 64 }, open).stdout)).toBeLessThan(64);
    expect(Number(run({}, open).stdout)).toBe(500);
  }, 120_000);

  it('are none without a shell where none are set', () => {
    expect(withLimits({ command: 'a', args: ['b'] }, {})).toEqual({ command: 'a', args: ['b'] });
  });

  it('that cannot be set are said so before anything is started', () => {
    expect(() => checkLimits({ openFiles: 64 })).not.toThrow();
    expect(() => checkLimits({ openFiles: 4_000_000_000 })).toThrow('this system cannot set them');
  });
});
