import { expect, test } from 'vitest';
import { createStreamLimit } from '../../../src/mcp/http/limits.ts';

test('streams are counted for each principal and for all, and room comes back (T-144, T-145)', () => {
  const limit = createStreamLimit(2, 3);
  expect([limit.begin('a'), limit.begin('a')]).toEqual([undefined, undefined]);
  expect(limit.begin('a')).toMatchObject({ reason: 'too_many_streams' });
  expect(limit.begin('b')).toBeUndefined();
  expect(limit.begin('c')).toMatchObject({ reason: 'sessions_exhausted' });
  limit.end('a');
  expect(limit.begin('c')).toBeUndefined();
});
