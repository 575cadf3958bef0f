import { describe, expect, it } from 'vitest';
import { day, seconds } from '../../src/settings/times.ts';

describe('a setting that is a time', () => {
  const setting = seconds(60, day, 'a time');

  it('has a default, and a meaning for the reference', () => {
    expect(setting.parse(undefined)).toBe(60);
    expect(setting.description).toBe('a time');
  });

  it.each([1, 86_400])('may be %i seconds', (value) => {
    expect(setting.parse(value)).toBe(value);
  });

  it.each([0, -1, 1.5, 86_401, '60', null])('may not be %j', (value) => {
    expect(setting.safeParse(value).success).toBe(false);
  });
});
