import { expect, it } from 'vitest';
import { isGatewayError } from '../../src/doctor/gateway-error.ts';

it.each([
  [502, 'application/json', true],
  [504, 'text/html', true],
  [522, 'text/plain', true],
  [503, 'text/html; charset=utf-8', true],
  [503, 'application/json', false],
  [500, 'text/html', false],
  [401, 'text/html', false],
])(
  'status %i as %s is of a proxy that does not reach the server: %s (RFC 9110 section 15.6)',
  (status, type, is) => {
    expect(isGatewayError({ status, headers: new Headers({ 'content-type': type }) })).toBe(is);
  },
);
