import { describe, expect, it } from 'vitest';
import { ageOf, endsSoon } from '../../../src/upstream/bond/link-age.ts';

describe('what is known of a link', () => {
  it.each([
    ['fresh', { provedAt: 1000 }, 1299],
    ['stale', { provedAt: 1000 }, 1300],
    ['stale', { provedAt: 1000 }, 1599],
    ['old', { provedAt: 1000 }, 1600],
    ['fresh', { provedAt: 1000, expiresAt: 1200 }, 1199],
    ['expired', { provedAt: 1000, expiresAt: 1200 }, 1200],
  ])('is %s, proved and with an end as in %o, at %i', (age, times, now) => {
    expect(ageOf(times, 300, now)).toBe(age);
  });

  it.each([
    [false, { provedAt: 1000 }, 9999],
    [false, { provedAt: 1000, expiresAt: 4600 }, 4539],
    [true, { provedAt: 1000, expiresAt: 4600 }, 4540],
    [false, { provedAt: 1000, expiresAt: 1040 }, 1029],
    [true, { provedAt: 1000, expiresAt: 1040 }, 1030],
  ])('is renewed ahead (%s) with times as in %o at %i', (isSoon, times, now) => {
    expect(endsSoon(times, now)).toBe(isSoon);
  });
});
