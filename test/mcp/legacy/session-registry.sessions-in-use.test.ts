import { afterEach, expect, it, vi } from 'vitest';
import type { Session } from '../../../src/mcp/legacy/session.ts';
import { createSessionsInUse, SessionMoves } from '../../../src/mcp/legacy/session-registry.ts';

afterEach(() => void vi.useRealTimers());

it('sessions in use are those of every registry that is there', async () => {
  const inUse = createSessionsInUse();
  const find = (keys: string[]) => (key: string) => (keys.includes(key) ? ({ key } as Session) : undefined);
  const of = (...keys: string[]) => [async () => keys, find(keys)] as const;
  const found = () => ['a', 'c', 'd'].map((key) => inUse.find(key)?.key);
  inUse.add(...of('a'));
  const remove = inUse.add(...of('b', 'c'));
  expect(await inUse.note()).toEqual(['a', 'b', 'c']);
  expect(found()).toEqual(['a', 'c', undefined]);
  remove();
  expect(await inUse.note()).toEqual(['a']);
  expect(found()).toEqual(['a', undefined, undefined]);
});

it('a session is reserved by one registry at a time, in the order of their requests', async () => {
  const inUse = createSessionsInUse();
  const order: string[] = [];
  const reserve = async (name: string, key = 'a') => {
    const free = await inUse.reserve(key);
    order.push(name);
    return free;
  };
  const first = await reserve('first');
  const [second, third] = [reserve('second'), reserve('third')];
  await reserve('of another session', 'b');
  expect(order).toEqual(['first', 'of another session']);
  first();
  (await second)();
  first();
  (await third)();
  expect(order.slice(2)).toEqual(['second', 'third']);
});

it('a session that another registry does not end is refused, and goes to the next one once it has ended', async () => {
  vi.useFakeTimers();
  const inUse = createSessionsInUse();
  const free = await inUse.reserve('a');
  const refused = expect(inUse.reserve('a')).rejects.toThrow(SessionMoves);
  await vi.advanceTimersByTimeAsync(12_001);
  await refused;
  const next = inUse.reserve('a');
  free();
  (await next)();
});
