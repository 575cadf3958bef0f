import { utimesSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { thisHolder } from '../../../src/client/node/file-lock.ts';
import { locksCheck } from '../../../src/doctor/machine/locks.ts';
import { finding, put, testMachine } from './test-machine.ts';

describe('MACHINE-LOCK', () => {
  it('passes without locks, and without a store', async () => {
    const machine = testMachine();
    expect(await finding(locksCheck(machine))).toMatchObject({ verdict: 'pass', saw: 'No lock is held.' });
  });

  it('passes for a lock in use', async () => {
    const machine = testMachine();
    put(machine.home, '.gatehouse/tokens.json.lock', JSON.stringify(thisHolder()));
    const found = await finding(locksCheck(machine));
    expect(found).toMatchObject({
      verdict: 'pass',
      saw: expect.stringContaining(`pid ${process.pid} lives`),
    });
  });

  it('finds a lock nobody has touched for long (CL-4)', async () => {
    const machine = testMachine();
    const file = put(machine.home, '.gatehouse/refresh-0123.lock', 'an owner');
    const then = (Date.now() - 120_000) / 1000;
    utimesSync(file, then, then);
    const found = await finding(locksCheck(machine));
    expect(found.verdict).toBe('warn');
    expect(found.saw).toContain('refresh-0123.lock (120 s old)');
  });

  it('finds a lock whose holder is gone (CL-1)', async () => {
    const machine = testMachine();
    put(machine.home, '.gatehouse/tokens.json.lock', JSON.stringify({ ...thisHolder(), pid: 4_194_305 }));
    const found = await finding(locksCheck(machine));
    expect(found).toMatchObject({ verdict: 'warn', saw: expect.stringContaining('pid 4194305 is gone') });
  });
});
