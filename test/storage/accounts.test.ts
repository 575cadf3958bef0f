import { describe, expect, it } from 'vitest';
import { LastLoginMethod, normalizeEmail } from '../../src/storage/accounts.ts';

describe('an e-mail address', () => {
  it.each([
    ['Ada@Example.com', 'ada@example.com'],
    ['  ada@example.com\n', 'ada@example.com'],
    ['A\u030Angstrom@example.com', '\u00E5ngstrom@example.com'],
  ])('%j is kept and compared as %j', (typed, kept) => {
    expect(normalizeEmail(typed)).toBe(kept);
  });
});

it('a removal of the last way in has a name of its own', () => {
  expect(String(new LastLoginMethod())).toBe('LastLoginMethod: nobody could log in to the account any more');
});
