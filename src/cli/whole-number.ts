import { InvalidArgumentError } from 'commander';

/**
 * Makes the parser of an option that takes a whole number.
 * @param least the smallest it takes
 * @param most the largest it takes
 * @returns the parser; it throws InvalidArgumentError, with both bounds, for anything else
 */
export function parseWhole(least: number, most: number): (value: string) => number {
  return (value) => {
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < least || number > most)
      throw new InvalidArgumentError(`A whole number from ${least} to ${most}.`);
    return number;
  };
}
