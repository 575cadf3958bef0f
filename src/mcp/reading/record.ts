import { isExactNumber } from '../../collections/exact-json.ts';

/**
 * Returns true if a value of JSON is an object: neither null nor an array, nor a number that stands there as it was
 * written.
 */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isExactNumber(value);
}
