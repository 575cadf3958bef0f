import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isInstalled } from '../../../src/doctor/machine/installed-program.ts';
import { put, testMachine } from './test-machine.ts';

describe('a program', () => {
  it('is looked for in each folder of PATH, and by its path', () => {
    const machine = testMachine();
    const tool = put(machine.home, 'tools/opener', '', 0o755);
    expect(isInstalled('xdg-open', machine)).toBe(true);
    expect(isInstalled('opener', machine)).toBe(false);
    expect(isInstalled(tool, machine)).toBe(true);
    const env = { PATH: `/nowhere:${join(machine.home, 'tools')}` };
    expect(isInstalled('opener', { ...machine, env })).toBe(true);
  });

  it('has an ending on Windows', () => {
    const machine = testMachine({ platform: 'win32' });
    put(machine.env.PATH ?? '', 'rundll32.exe', '');
    expect(isInstalled('rundll32', machine)).toBe(true);
  });
});
