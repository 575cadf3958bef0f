import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createWriteBatcher, type WriteBatcher } from '../../src/net/write-batcher.ts';

// The machine may pause between any two lines; the clock of these tests does not.
let nowMs = 0;
beforeEach(() => void vi.spyOn(performance, 'now').mockImplementation(() => nowMs));
afterEach(() => void vi.restoreAllMocks());

/** Sends the numbers from 1 on, one right after the other. @returns those that have left */
function sendMany(count: number, sendTogether: WriteBatcher = createWriteBatcher()): number[] {
  const left: number[] = [];
  for (let at = 1; at <= count; at++) sendTogether(() => left.push(at));
  return left;
}

test('what comes alone leaves at once', () => {
  const sendTogether = createWriteBatcher();
  expect(sendMany(1, sendTogether)).toEqual([1]);
  nowMs += 2;
  expect(sendMany(1, sendTogether)).toEqual([1]);
});

test('what follows closely leaves in the same turn of the event loop, in its order', async () => {
  const left = sendMany(5);
  expect(left).toEqual([1]);
  await turn();
  expect(left).toEqual([1, 2, 3, 4, 5]);
});

test('no more than sixteen wait', () => {
  expect(sendMany(20)).toHaveLength(17);
});

test('what comes after a pause takes along what waits', () => {
  const sendTogether = createWriteBatcher();
  const left = sendMany(3, sendTogether);
  nowMs += 2;
  sendTogether(() => left.push(4));
  expect(left).toEqual([1, 2, 3, 4]);
});

test('what is sent while others leave is not lost', async () => {
  const sendTogether = createWriteBatcher();
  const left: string[] = [];
  sendTogether(() => {
    left.push('first');
    sendTogether(() => left.push('second'));
  });
  await turn();
  expect(left).toEqual(['first', 'second']);
});

test('all leave in the context of no request: nothing of one reaches another (T-127)', async () => {
  const request = new AsyncLocalStorage<string>();
  const sendTogether = createWriteBatcher();
  const contexts: (string | undefined)[] = [];
  for (const name of ['a', 'b', 'c'])
    request.run(name, () => sendTogether(() => contexts.push(request.getStore())));
  await turn();
  expect(contexts).toEqual([undefined, undefined, undefined]);
});
