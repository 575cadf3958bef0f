import { InvalidArgumentError } from 'commander';
import { describe, expect, it } from 'vitest';
import { parseWhole } from '../../src/cli/option-parsers.ts';

describe('a whole number of an option', () => {
  it.each([
    ['1', 1],
    ['65535', 65_535],
  ])('%s is taken', (value, number) => {
    expect(parseWhole(1, 65_535)(value)).toBe(number);
  });

  it.each(['0', '65536', '-1', '1.5', '1e3', ' 1', '', 'x'])('%j is refused, with the bounds', (value) => {
    expect(() => parseWhole(1, 65_535)(value)).toThrow(InvalidArgumentError);
    expect(() => parseWhole(1, 65_535)(value)).toThrow('A whole number from 1 to 65535.');
  });
});
