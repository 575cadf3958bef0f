import { expect, it } from 'vitest';
import { grantKey, payloadContext } from '../../../src/authorization-server/engine/stored-rows.ts';

it('a grant is stored under a hash of its own kind, and a payload is tied to its row', () => {
  expect(grantKey('g')).toMatch(/^[\w-]{43}$/);
  expect(grantKey('g')).not.toBe(grantKey('h'));
  expect(payloadContext('Client', 'c')).not.toBe(payloadContext('Grant', 'c'));
});
