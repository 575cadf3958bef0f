import { InvalidArgumentError } from 'commander';

/**
 * Creates the parser of an option that takes a whole number.
 * @param least the minimum
 * @param most the maximum
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

/** Seconds of the units of a span of time. */
const units: Readonly<Record<string, number>> = { m: 60, h: 3600, d: 86_400 };

/**
 * Reads a time: a date, a date with a time, or a span before now such as `90m`, `24h` or `7d`.
 * @returns epoch seconds
 * @throws InvalidArgumentError for anything else
 */
export function parseTime(text: string): number {
  const [, amount, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  if (amount !== undefined) return Math.floor(Date.now() / 1000) - Number(amount) * (units[unit] ?? 0);
  const time = Date.parse(text);
  if (Number.isNaN(time))
    throw new InvalidArgumentError(
      'A time is written like 2026-01-31, 2026-01-31T12:00:00Z, 90m, 24h or 7d.',
    );
  return Math.floor(time / 1000);
}
