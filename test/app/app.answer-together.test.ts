import { setImmediate as turn } from 'node:timers/promises';
import type { Context } from 'koa';
import { afterEach, expect, test, vi } from 'vitest';
import { answerTogether } from '../../src/app/app.ts';

afterEach(() => void vi.restoreAllMocks());

/** Has requests served one after the other in one turn of the event loop. @returns what was made and what left, in turn */
async function serve(count: number, context: Partial<Context>): Promise<string[]> {
  vi.spyOn(performance, 'now').mockReturnValue(0);
  const step = answerTogether();
  const order: string[] = [];
  for (let at = 1; at <= count; at++)
    setImmediate(async () => {
      await step(context as Context, async () => void order.push(`made ${at}`));
      order.push(`left ${at}`);
    });
  await turn();
  await turn();
  return order;
}

test('answers that are ready one right after the other leave together', async () => {
  expect(await serve(3, {})).toEqual(['made 1', 'left 1', 'made 2', 'made 3', 'left 2', 'left 3']);
});

test('who answers without Koa is not waited for', async () => {
  expect(await serve(2, { respond: false })).toEqual(['made 1', 'left 1', 'made 2', 'left 2']);
});

test('what a step throws comes through', async () => {
  const fault = new Error('no answer');
  await expect(answerTogether()({} as Context, () => Promise.reject(fault))).rejects.toBe(fault);
});
