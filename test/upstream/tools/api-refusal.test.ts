import { expect, test } from 'vitest';
import { ApiRefusal } from '../../../src/upstream/tools/api-refusal.ts';

test('a refusal has a stable reason beside its sentence', () => {
  const cause = new Error('the cause');
  const refusal = new ApiRefusal('api_unreachable', 'Say it.', { cause });
  expect([refusal.name, refusal.reason, refusal.message, refusal.cause]).toEqual([
    'ApiRefusal',
    'api_unreachable',
    'Say it.',
    cause,
  ]);
});
