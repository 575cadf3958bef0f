import { expect, it } from 'vitest';
import { isGatewayError } from '../../src/doctor/gateway-error.ts';

it.each([
  [502, true],
  [504, true],
  [522, true],
  [500, false],
  [503, false],
  [401, false],
])(
  'status %i is that of a proxy which does not reach the server: %s (RFC 9110 section 15.6)',
  (status, expected) => {
    expect(isGatewayError(status)).toBe(expected);
  },
);
