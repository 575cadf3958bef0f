import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { gatehouseHome } from '../../../src/client/node/index.ts';

describe('the folder of logins', () => {
  it('is GATEHOUSE_HOME, else .gatehouse in the home folder', () => {
    expect(gatehouseHome({ GATEHOUSE_HOME: '/x' })).toBe('/x');
    expect(gatehouseHome({ GATEHOUSE_HOME: '' })).toBe(join(homedir(), '.gatehouse'));
    expect(gatehouseHome({})).toBe(join(homedir(), '.gatehouse'));
  });
});
