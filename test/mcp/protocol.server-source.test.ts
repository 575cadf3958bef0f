import { expect, it } from 'vitest';
import { isElsewhere } from '../../src/mcp/protocol.ts';

it.each([
  ['each', false],
  ['principal', true],
  ['account', true],
  ['everyone', true],
  ['shared', false],
  ['single', false],
] as const)('servers of sharing %s stand in other processes: %s', (sharing, is) => {
  expect(isElsewhere({ sharing })).toBe(is);
});
