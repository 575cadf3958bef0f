import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { storeFolder, thisMachine } from '../../../src/doctor/machine/machine.ts';

describe('the machine', () => {
  it('is the one this process runs on', () => {
    expect(thisMachine({ A: 'b' })).toMatchObject({
      platform: process.platform,
      home: homedir(),
      nodeVersion: process.versions.node,
      env: { A: 'b' },
    });
  });

  it('keeps logins in $GATEHOUSE_HOME, else below the home folder', () => {
    expect(storeFolder({ env: { GATEHOUSE_HOME: '/x' }, home: '/home/a' })).toBe('/x');
    expect(storeFolder({ env: {}, home: '/home/a' })).toBe(join('/home/a', '.gatehouse'));
  });
});
