import { expect, it } from 'vitest';
import { keptAfterUseSeconds } from '../../src/storage/artifacts.ts';

it('what was used is remembered for a day (T-032, T-043)', () => {
  expect(keptAfterUseSeconds).toBe(24 * 3600);
});
