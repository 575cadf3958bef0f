import { expect, it } from 'vitest';
import {
  failureOf,
  isUpstreamFault,
} from '../../../src/authorization-server/upstream-login/begin-upstream.ts';
import { UpstreamFault } from '../../../src/upstream/upstream-fault.ts';

it.each([
  ['refused', 'denied', 'denied'],
  ['refused', 'jwt_nonce', 'refused'],
  ['refused', 'callback_issuer', 'refused'],
  ['ended', 'grant_refused', 'refused'],
  ['unavailable', 'timed_out', 'unavailable'],
] as const)('to a person, %s by %s is: %s (T-085)', (kind, reason, failure) => {
  const fault = new UpstreamFault('work', kind, reason);
  expect(isUpstreamFault(fault)).toBe(true);
  expect(failureOf(fault)).toBe(failure);
});

it('a fault of ours is none of an upstream', () => {
  expect(isUpstreamFault(new TypeError('a fault of ours'))).toBe(false);
  expect(isUpstreamFault('UpstreamFault')).toBe(false);
});
