import { expect, it } from 'vitest';
import { secondsWithin } from '../../../src/authorization-server/engine/configuration.ts';

it.each([
  [undefined, 600, 600],
  [2_000, 600, 600],
  [1_500, 600, 500],
  [1_000, 600, 1],
  [900, 600, 1],
])(
  'what hangs on a consent that ends at %s lives no longer than that, of %s seconds %s (T-045)',
  (ends, seconds, expected) => {
    expect(secondsWithin(ends, seconds, 1_000)).toBe(expected);
  },
);
