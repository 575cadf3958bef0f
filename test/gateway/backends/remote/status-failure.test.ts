import { expect, it } from 'vitest';
import { failureOfStatus } from '../../../../src/gateway/backends/remote/status-failure.ts';

it('a status that is not 2xx has a name', () => {
  const names = Object.fromEntries(
    [400, 401, 403, 404, 405, 429, 500, 502, 503].map((one) => [one, failureOfStatus(one)]),
  );
  expect(names).toEqual({
    400: 'backend_refused',
    401: 'backend_wants_login',
    403: 'backend_forbids',
    404: 'backend_refused',
    405: 'backend_refused',
    429: 'backend_overloaded',
    500: 'backend_failed',
    502: 'backend_failed',
    503: 'backend_overloaded',
  });
});
