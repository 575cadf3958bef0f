import { describe, expect, it } from 'vitest';
import { createBodyTurns } from '../../../src/mcp/http/dispatch.ts';

describe('turns at reading bodies', () => {
  it('are given to so many bodies of a principal at once, to the next when one is read (T-134)', async () => {
    const turns = createBodyTurns(2);
    const order: string[] = [];
    const first = await turns.take('ann');
    const second = await turns.take('ann');
    const waiting = ['third', 'fourth'].map(async (name) => {
      const giveBack = await turns.take('ann');
      order.push(name);
      return giveBack;
    });
    await Promise.resolve();
    expect(order).toEqual([]);
    first();
    (await waiting[0])?.();
    (await waiting[1])?.();
    expect(order).toEqual(['third', 'fourth']);
    second();
    (await turns.take('ann'))();
  });

  it('of one principal are nothing to another', async () => {
    const turns = createBodyTurns(1);
    await turns.take('ann');
    (await turns.take('bob'))();
  });
});
