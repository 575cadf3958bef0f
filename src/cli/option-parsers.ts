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

/**
 * Reads a port of the command line.
 * @throws InvalidArgumentError if the text is not a port
 */
export function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new InvalidArgumentError('A port is a number from 0 to 65535.');
  return port;
}
