import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Deadlines } from '../../../src/mcp/http/limits.ts';
import { collectGarbage } from '../../support/garbage.ts';

describe('deadlines', () => {
  it('are met in their order, none of them early', async () => {
    const deadlines = new Deadlines(100);
    const begun = performance.now();
    const met: [string, number][] = [];
    const meet = (name: string) => () => met.push([name, performance.now() - begun]);
    deadlines.set(meet('first'));
    await sleep(40);
    deadlines.set(meet('second'));
    await sleep(400);
    expect(met.map(([name]) => name)).toEqual(['first', 'second']);
    expect(met[0]?.[1]).toBeGreaterThanOrEqual(98);
    expect(met[1]?.[1]).toBeGreaterThanOrEqual(138);
  });

  it('that are taken back are not met, and new ones are after all were', async () => {
    const deadlines = new Deadlines(20);
    let met = 0;
    const takeBack = deadlines.set(() => met++);
    takeBack();
    await sleep(80);
    expect(met).toBe(0);
    deadlines.set(() => met++);
    await sleep(120);
    expect(met).toBe(1);
  });

  it('are met in the context of their own setter, and in no other (T-127)', async () => {
    const deadlines = new Deadlines(20);
    const caller = new AsyncLocalStorage<string>();
    const met: unknown[] = [];
    for (const name of ['ada', 'bob'])
      caller.run(name, () => deadlines.set(() => met.push(caller.getStore())));
    await expect.poll(() => met).toEqual(['ada', 'bob']);
  });

  it('that are taken back let go of what they would have called, whoever still holds on to them', async () => {
    const deadlines = new Deadlines(10_000);
    const set = () => {
      const onEnd = () => undefined;
      return { takeBack: deadlines.set(onEnd), called: new WeakRef(onEnd) };
    };
    const takenBack = set();
    const waiting = set();
    takenBack.takeBack();
    // A reference that was made in this turn is held until its end.
    await sleep(0);
    collectGarbage();
    expect([takenBack.called.deref(), typeof waiting.called.deref()]).toEqual([undefined, 'function']);
    // Both are still held here.
    takenBack.takeBack();
    waiting.takeBack();
  });
});
