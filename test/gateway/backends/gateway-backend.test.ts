import { expect, it } from 'vitest';
import { createFailures } from '../../../src/gateway/backends/gateway-backend.ts';

it('failures of a backend are counted, the last one is known, and it fails until something works again', () => {
  const failures = createFailures(() => 7);
  expect(failures.count()).toEqual({ count: 0 });
  expect(failures.isFailing).toBe(false);

  failures.note('backend_not_started');
  failures.note('backend_ended');
  expect(failures.count()).toEqual({ count: 2, last: { reason: 'backend_ended', at: 7 } });
  expect(failures.isFailing).toBe(true);

  failures.mended();
  expect(failures.isFailing).toBe(false);
  expect(failures.count()).toMatchObject({ count: 2 });
});
