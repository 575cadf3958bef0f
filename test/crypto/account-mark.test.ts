import { expect, test } from 'vitest';
import { accountMark } from '../../src/crypto/account-mark.ts';

test('the mark of an account is always the same, that of another is another, and the id is not in it', () => {
  expect(accountMark('acc_1')).toMatch(/^[0-9a-f]{16}$/);
  expect(accountMark('acc_1')).toBe(accountMark('acc_1'));
  expect(accountMark('acc_1')).not.toBe(accountMark('acc_2'));
  expect(accountMark('abc')).not.toContain('abc');
});
