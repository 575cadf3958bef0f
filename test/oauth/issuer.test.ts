import { describe, expect, it } from 'vitest';
import {
  comparableClaim,
  isEmailVerified,
  isHostOf,
  isKnownEndpoint,
  isSameIssuer,
} from '../../src/oauth/issuer.ts';

describe('an issuer', () => {
  it.each([
    ['https://as.example', 'https://as.example', true, false],
    ['https://as.example/', 'https://as.example', true, true],
    ['https://as.example', 'https://as.example/', true, true],
    ['https://as.example/a/', 'https://as.example/a', true, true],
    ['https://as.example', 'https://as.example//', false, false],
    ['https://as.example', 'HTTPS://as.example', false, false],
    ['https://as.example/a', 'https://as.example', false, false],
    ['https://as.example', undefined, false, false],
    ['', '', true, false],
  ])('%s named as %s is the same: %s, noted: %s (FA-49, A4-04)', (asked, named, same, noted) => {
    const slips: string[] = [];
    expect(isSameIssuer(asked, named, ({ tolerance }) => slips.push(tolerance))).toBe(same);
    expect(slips).toEqual(noted ? ['issuerSlash'] : []);
  });

  it.each([
    ['https://accounts.google.com', 'https://oauth2.googleapis.com/token', true],
    ['https://accounts.google.com/', 'https://oauth2.googleapis.com/token', true],
    ['https://accounts.google.com', 'https://googleapis.com.evil.example/token', false],
    ['https://accounts.google.com', 'http://oauth2.googleapis.com/token', false],
    ['https://accounts.google.com', 'https://oauth2.googleapis.com:8443/token', false],
    ['https://evil.example', 'https://oauth2.googleapis.com/token', false],
    ['http://accounts.google.com', 'https://oauth2.googleapis.com/token', false],
  ])('of a known provider, %s, may have %s: %s (FA-49, T-183)', (issuer, endpoint, isKnown) => {
    expect(isKnownEndpoint(issuer, endpoint)).toBe(isKnown);
  });

  it('has a list of hosts, of which one with a dot stands for all below it', () => {
    expect([isHostOf('a.b.example', '.b.example'), isHostOf('b.example', '.b.example')]).toEqual([
      true,
      false,
    ]);
  });
});

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
