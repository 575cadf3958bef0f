import { expect, it } from 'vitest';
import { describeFull } from '../../../../src/gateway/backends/remote/full-limits.ts';

it('a limit that is full is told with the setting that raises it, where one does', () => {
  const limits = { maxConnections: 20, total: 10, perAccount: 2, maxHeld: 100 };
  expect(describeFull('calls', limits)).toBe(
    'an account may have 2 calls under way and 10 that wait: raise maxConnections of the backend, which is 20',
  );
  expect(describeFull('streams', limits)).toMatch(/2 streams open, all together 10: raise maxConnections/);
  expect(describeFull('session_start', limits)).toMatch(/^100 messages .* no setting changes/);
});
