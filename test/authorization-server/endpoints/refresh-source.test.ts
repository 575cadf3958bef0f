import type { Context } from 'koa';
import { describe, expect, it } from 'vitest';
import { compareSource, describeSource } from '../../../src/authorization-server/endpoints/refresh-source.ts';

const from = (clientAddress: string | undefined, userAgent?: string): Context =>
  ({ state: { clientAddress }, req: { headers: { 'user-agent': userAgent } } }) as unknown as Context;
const keys = ['key of today', 'key of yesterday'];
const compare = (first: Context, second: Context) =>
  compareSource(second, 'id', describeSource(first, 'id', keys), keys);

describe('where a refresh token was used from', () => {
  it('is the same for the same address and client, and differs by either (FA-10, T-213)', () => {
    const first = from('192.0.2.1', 'client/1');
    expect(compare(first, from('192.0.2.1', 'client/1'))).toEqual({ address: false, userAgent: false });
    expect(compare(first, from('192.0.2.2', 'client/1'))).toEqual({ address: true, userAgent: false });
    expect(compare(first, from('192.0.2.1', 'client/2'))).toEqual({ address: false, userAgent: true });
    expect(compare(first, from('192.0.2.1'))).toEqual({ address: false, userAgent: true });
  });

  it('is not compared if one of the two is not known (FA-10, T-213)', () => {
    expect(compareSource(from('192.0.2.1', 'a'), 'id', undefined, keys)).toEqual({});
    for (const nowhere of ['unknown', undefined]) {
      expect(compare(from(nowhere), from('192.0.2.1')).address).toBeUndefined();
      expect(compare(from('192.0.2.1'), from(nowhere)).address).toBeUndefined();
    }
  });

  it('is recognised after the keys were rotated (FA-10, T-213)', () => {
    const first = from('192.0.2.1', 'a');
    const described = describeSource(first, 'id', ['key of yesterday']);
    expect(compareSource(first, 'id', described, keys)).toEqual({ address: false, userAgent: false });
    expect(compareSource(first, 'id', described, ['another key']).address).toBe(true);
  });

  it('holds no address in the clear, and is another text for each token (FA-10, T-194, T-213)', () => {
    const first = from('192.0.2.1', 'client/1');
    const described = describeSource(first, 'id', keys);
    expect(described).toMatch(/^[\w-]{16} [\w-]{16}$/);
    expect(describeSource(first, 'other id', keys)).not.toBe(described);
  });
});
