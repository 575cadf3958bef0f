import { describe, expect, it } from 'vitest';
import { examine } from '../../../src/doctor/examine.ts';
import { machineChecks } from '../../../src/doctor/machine/machine-checks.ts';
import { serverUrl, testMachine } from './test-machine.ts';

describe('checks of the machine', () => {
  it('have ids of their own that begin with MACHINE-', () => {
    const checks = machineChecks(testMachine());
    const ids = checks.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^MACHINE-[A-Z-]+$/.test(id))).toEqual([]);
    expect(checks.every(({ section }) => section === 'machine')).toBe(true);
  });

  it('find nothing on a plain desktop, and ask the server nothing', async () => {
    const { findings, exchanges } = await examine({
      url: serverUrl,
      fetch: () => Promise.reject(new Error('not asked')),
      now: () => 1_800_000_000,
      checks: machineChecks(testMachine()),
    });
    expect(findings.filter(({ verdict }) => verdict !== 'pass' && verdict !== 'skip')).toEqual([]);
    expect(exchanges).toEqual([]);
  });

  it('look at the callback port the user fixed', async () => {
    const { findings } = await examine({
      url: serverUrl,
      fetch: () => Promise.reject(new Error('not asked')),
      now: () => 1_800_000_000,
      checks: machineChecks(testMachine(), { callbackPort: 65_535 }),
      only: ['MACHINE-CALLBACK-PORT'],
    });
    expect(findings[0]?.saw).toContain('65535');
  });
});
