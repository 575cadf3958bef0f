import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runtimeCheck } from '../../../src/doctor/machine/runtime.ts';
import { finding, testMachine } from './test-machine.ts';

describe('MACHINE-RUNTIME', () => {
  it.each([
    ['22.11.0', 'fail'],
    ['20.19.5', 'fail'],
    ['22.12.0', 'pass'],
    ['24.1.0', 'pass'],
  ])('judges Node.js %s: %s', async (nodeVersion, verdict) => {
    const found = await finding(runtimeCheck(testMachine({ nodeVersion })));
    expect(found).toMatchObject({ verdict, saw: expect.stringContaining(nodeVersion) });
  });

  it('asks for what package.json asks for', async () => {
    const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as { engines: { node: string } };
    const { fix } = await finding(runtimeCheck(testMachine({ nodeVersion: '18.0.0' })));
    expect(fix).toContain(engines.node.replace('>=', ''));
  });
});
