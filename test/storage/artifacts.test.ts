import { expect, it } from 'vitest';
import { usedRetentionSeconds } from '../../src/storage/artifacts.ts';

it('what was used is remembered for a day (T-032, T-043)', () => {
  expect(usedRetentionSeconds).toBe(24 * 3600);
});
