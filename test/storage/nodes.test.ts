import { expect, it } from 'vitest';
import { leaseSeconds } from '../../src/storage/nodes.ts';

it('a node that died gives up its sessions after five seconds', () => {
  expect(leaseSeconds).toBe(5);
});
