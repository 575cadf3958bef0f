import { expect, test } from 'vitest';
import {
  patienceOf,
  upstreamsOf,
  withoutPatience,
  withPatience,
  withUpstreams,
} from '../../../src/mcp/upstreams/upstream.ts';
import { authInfoWith } from '../support/auth-info.ts';
import { createTestAccess } from './support.ts';

test('each message of a caller has its own note of what is missing, also where they share one token (T-092)', () => {
  const { access } = createTestAccess();
  const caller = Object.freeze(authInfoWith('files:read'));
  const [first, second] = [withUpstreams(caller, access), withUpstreams(caller, access)];
  expect(first).toEqual(caller);
  expect(upstreamsOf(first)).toEqual({ access, patienceMs: 0 });
  expect(upstreamsOf(first)).not.toBe(upstreamsOf(second));
  expect(upstreamsOf(caller)).toBeUndefined();
});

test('the person behind one message is waited for, and behind no other of the same token', () => {
  const caller = Object.freeze(authInfoWith('files:read'));
  const waiting = withPatience(caller, 300);
  expect(waiting).toEqual(caller);
  expect([patienceOf(waiting), patienceOf(caller)]).toEqual([300, 0]);
  const { access } = createTestAccess();
  const [first, second] = [withUpstreams(caller, access), withUpstreams(caller, access)];
  expect(withPatience(first, 200)).toBe(first);
  expect([patienceOf(first), upstreamsOf(first)?.patienceMs, patienceOf(second)]).toEqual([200, 200, 0]);
});

test('a message of ours on behalf of one that waits for its person waits for nobody', () => {
  const caller = Object.freeze(authInfoWith('files:read'));
  expect(withoutPatience(caller)).toBe(caller);
  const { access } = createTestAccess();
  for (const waiting of [withPatience(caller, 300), withPatience(withUpstreams(caller, access), 300)]) {
    const own = withoutPatience(waiting);
    expect([patienceOf(own), patienceOf(waiting)]).toEqual([0, 300]);
    expect(own).toEqual(caller);
    expect(upstreamsOf(own)?.access).toBe(upstreamsOf(waiting)?.access);
  }
});
