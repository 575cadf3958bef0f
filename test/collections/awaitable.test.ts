import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { mapAwaitable } from '../../src/collections/awaitable.ts';

it('goes on at once with what is there, and later with what is to come', async () => {
  expect(mapAwaitable(1, (value) => value + 1)).toBe(2);
  const later = mapAwaitable(Promise.resolve(1), (value) => value + 1);
  expect(later).toBeInstanceOf(Promise);
  expect(await later).toBe(2);
});

it('waits for what promises of other code give', async () => {
  const foreign: Promise<number> = runInNewContext('Promise.resolve(1)');
  expect(foreign).not.toBeInstanceOf(Promise);
  expect(await mapAwaitable(foreign, (value) => value + 1)).toBe(2);
});

it('fails as what it goes on with', async () => {
  const fault = new Error('no value');
  const fail = (): never => {
    throw fault;
  };
  expect(() => mapAwaitable(1, fail)).toThrow(fault);
  await expect(mapAwaitable(Promise.resolve(1), fail)).rejects.toBe(fault);
  await expect(mapAwaitable(Promise.reject(fault), () => 1)).rejects.toBe(fault);
});
