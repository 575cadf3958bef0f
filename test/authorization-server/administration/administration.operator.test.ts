import { userInfo } from 'node:os';
import { describe, expect, it } from 'vitest';
import { operatingUser } from '../../../src/authorization-server/administration/administration.ts';

describe('the operator', () => {
  it('is the user of the machine, by name and number (T-197)', () => {
    expect(operatingUser()).toBe(`${userInfo().username} (${userInfo().uid})`);
  });
});
