import { expect, it } from 'vitest';
import { createSessionsInUse } from '../../../src/mcp/legacy/session-registry.ts';

it('sessions in use are those of every registry that is there', async () => {
  const inUse = createSessionsInUse();
  const of = (...keys: string[]) => [async () => keys, (key: string) => keys.includes(key)] as const;
  inUse.add(...of('a'));
  const remove = inUse.add(...of('b', 'c'));
  expect(await inUse.note()).toEqual(['a', 'b', 'c']);
  expect(['a', 'c', 'd'].map(inUse.has)).toEqual([true, true, false]);
  remove();
  expect(await inUse.note()).toEqual(['a']);
  expect(['a', 'c', 'd'].map(inUse.has)).toEqual([true, false, false]);
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
