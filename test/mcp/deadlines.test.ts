import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Deadlines } from '../../src/mcp/deadlines.ts';
import { collectGarbage } from '../support/garbage.ts';

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

  it('are met in nobody’s context: who set the first is not who set the others (T-127)', async () => {
    const deadlines = new Deadlines(20);
    const caller = new AsyncLocalStorage<string>();
    const met: unknown[] = [];
    for (const name of ['ada', 'bob'])
      caller.run(name, () => deadlines.set(() => met.push(caller.getStore())));
    await expect.poll(() => met).toEqual([undefined, undefined]);
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

  it('that are taken back between others leave those in their order, and are taken back once', async () => {
    const deadlines = new Deadlines(20);
    const met: string[] = [];
    const set = (name: string) => deadlines.set(() => met.push(name));
    const [, takeSecond, , takeFourth, takeLast] = ['a', 'b', 'c', 'd', 'e'].map(set);
    for (const takeBack of [takeSecond, takeFourth, takeLast, takeSecond]) takeBack?.();
    set('f');
    await expect.poll(() => met.length).toBe(3);
    expect(met).toEqual(['a', 'c', 'f']);
  });

  it('may set others and take back any while they are met', async () => {
    const deadlines = new Deadlines(20);
    const met: string[] = [];
    const takeBack: (() => void)[] = [];
    takeBack.push(
      deadlines.set(() => {
        met.push('first');
        for (const one of takeBack) one();
        deadlines.set(() => met.push('later'));
      }),
    );
    takeBack.push(deadlines.set(() => met.push('taken back')));
    deadlines.set(() => met.push('last'));
    await expect.poll(() => met.includes('later')).toBe(true);
    expect(met).toEqual(['first', 'last', 'later']);
  });

  it('cost no timer each: a thousand share one', () => {
    const timers = vi.spyOn(globalThis, 'setInterval');
    onTestFinished(() => timers.mockRestore());
    const deadlines = new Deadlines(10_000);
    for (let count = 0; count < 1000; count++) deadlines.set(() => undefined);
    expect(timers).toHaveBeenCalledTimes(1);
  });
});
