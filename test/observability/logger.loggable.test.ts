import { expect, it } from 'vitest';
import { loggable } from '../../src/observability/logger.ts';

it('bears what others chose up to a length (T-195)', () => {
  expect(loggable(undefined)).toBeUndefined();
  expect(loggable('x'.repeat(500))).toBe('x'.repeat(500));
  expect(loggable('x'.repeat(501))).toBe(`${'x'.repeat(500)}… (501 characters)`);
});
