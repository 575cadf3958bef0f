import { describe, expect, it } from 'vitest';
import { comparableClaim, isEmailVerified } from '../../src/oauth/identity-claims.ts';

describe('the claim email_verified', () => {
  it.each([true, 'true'])('of %j says that the address is verified (FA-15, T-215)', (claim) => {
    expect(isEmailVerified(claim)).toBe(true);
    expect(isEmailVerified(claim, true)).toBe(true);
  });

  it.each([false, 'false', null, 0, 1, '1', '', 'no', 'yes', 'TRUE', ' true', [true], ['true'], {}])(
    'of %j does not say that the address is verified, whatever its absence means (FA-15, T-215)',
    (claim) => {
      expect(isEmailVerified(claim)).toBe(false);
      expect(isEmailVerified(claim, true)).toBe(false);
    },
  );

  it('that is absent means what the caller says: by default that the address is not verified (FA-15)', () => {
    expect(isEmailVerified(undefined)).toBe(false);
    expect(isEmailVerified(undefined, true)).toBe(true);
  });
});

describe('a claim that a rule compares', () => {
  it.each([
    ['a', 'a'],
    ['', ''],
    [7, '7'],
    [-1, '-1'],
    [true, 'true'],
    [false, 'false'],
  ])('of %j is the text %j', (claim, text) => {
    expect(comparableClaim(claim)).toBe(text);
  });

  it.each([
    null,
    undefined,
    [],
    ['a'],
    {},
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    JSON.parse('9007199254740993'),
  ])('of %j fits no rule (FA-15, T-215)', (claim) => {
    expect(comparableClaim(claim)).toBeUndefined();
  });
});
