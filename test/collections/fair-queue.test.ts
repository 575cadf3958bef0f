import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createKeyedQueue, FairQueue, FairQueueFull } from '../../src/collections/fair-queue.ts';

const limits = { running: 3, waiting: 100, perCaller: { running: 2, waiting: 2 } };

/** A queue, the jobs that started in it, and those that lost their place. */
function create(queueLimits: typeof limits) {
  const queue = new FairQueue(queueLimits);
  const started: string[] = [];
  const refused: string[] = [];
  const enter = (name: string, callers = [name[0] as string]): boolean =>
    queue.enter(
      callers,
      () => started.push(name),
      () => refused.push(name),
    );
  return { queue, started, refused, enter };
}

describe('a fair queue', () => {
  it('bounds the jobs that run and that wait, for each caller and for all (T-158)', () => {
    const { queue, started, enter } = create(limits);
    expect(['a1', 'a2', 'a3', 'a4', 'a5'].map((name) => enter(name))).toEqual([
      true,
      true,
      true,
      true,
      false,
    ]);
    expect([enter('b1'), enter('b2')]).toEqual([true, true]);
    expect(started).toEqual(['a1', 'a2', 'b1']);
    expect([queue.running, queue.waiting]).toEqual([3, 3]);
    expect(queue.tryEnter(['c'])).toBe(false);
  });

  it('serves callers in turns, and is free at the end (T-158)', () => {
    const { queue, started, enter } = create({
      ...limits,
      running: 1,
      perCaller: { running: 1, waiting: 9 },
    });
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) enter(name);
    for (let at = 0; at < 7; at++) queue.leave([(started[at] as string)[0] as string]);
    expect(started).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
    expect([queue.running, queue.waiting]).toEqual([0, 0]);
    expect(queue.tryEnter(['a'])).toBe(true);
  });

  it('starts no second job of a caller that has as many as it may have, but one of another caller', () => {
    const { queue, started, enter } = create({
      ...limits,
      running: 2,
      perCaller: { running: 1, waiting: 9 },
    });
    for (const name of ['a1', 'a2', 'b1', 'c1']) enter(name);
    expect(started).toEqual(['a1', 'b1']);
    queue.leave(['b']);
    expect(started).toEqual(['a1', 'b1', 'c1']);
    queue.leave(['a']);
    expect(started).toEqual(['a1', 'b1', 'c1', 'a2']);
  });

  it('counts a job for each of its callers: no address gets more turns by many accounts (FA-06, T-206)', () => {
    const { queue, started, enter } = create({
      ...limits,
      running: 1,
      perCaller: { running: 1, waiting: 3 },
    });
    for (const at of [1, 2, 3, 4]) enter(`a${at}`, ['address a', `account ${at}`]);
    enter('b1', ['address b', 'account 9']);
    expect(enter('a5', ['address a', 'account 5'])).toBe(false);
    queue.leave(['address a', 'account 1']);
    expect(started).toEqual(['a1', 'b1']);
  });

  it('gives a newcomer the place of a crowd if all places are taken (FA-06, T-206)', () => {
    const { started, refused, enter } = create({
      running: 1,
      waiting: 4,
      perCaller: { running: 1, waiting: 2 },
    });
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2']) enter(name);
    expect([enter('c1'), enter('d1'), enter('e1')]).toEqual([true, true, true]);
    expect(refused).toEqual(['a3', 'b2', 'a2']);
    expect([enter('f1'), enter('c2')]).toEqual([false, false]);
    expect(started).toEqual(['a1']);
  });

  it('runs work to its end, also if that fails, and refuses what has no place', async () => {
    const { queue } = create({ running: 1, waiting: 1, perCaller: { running: 1, waiting: 1 } });
    const held = Promise.withResolvers<string>();
    const first = queue.run(['a'], () => held.promise);
    const second = queue.run(['a'], () => Promise.reject(new Error('it failed')));
    await expect(queue.run(['a'], async () => 'never')).rejects.toThrow(FairQueueFull);
    held.resolve('done');
    expect(await first).toBe('done');
    await expect(second).rejects.toThrow('it failed');
    expect([queue.running, queue.waiting]).toEqual([0, 0]);
  });
});

/** Work that notes when it begins and ends. */
function noting() {
  const log: string[] = [];
  const work =
    (name: string, fails = false) =>
    async () => {
      log.push(`${name} in`);
      await sleep(5);
      log.push(`${name} out`);
      if (fails) throw new Error(name);
      return name;
    };
  return { log, work };
}

describe('turns', () => {
  it('lets one work for a key at a time, also after a failure', async () => {
    const takeTurn = createKeyedQueue();
    const { log, work } = noting();
    const all = await Promise.allSettled([
      takeTurn('k', work('a', true)),
      takeTurn('k', work('b')),
      takeTurn('k', work('c')),
    ]);
    expect(all.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(log).toEqual(['a in', 'a out', 'b in', 'b out', 'c in', 'c out']);
  });

  it('has no key wait for another', async () => {
    const takeTurn = createKeyedQueue();
    const { log, work } = noting();
    expect(await Promise.all([takeTurn('k', work('a')), takeTurn('l', work('b'))])).toEqual(['a', 'b']);
    expect(log.slice(0, 2)).toEqual(['a in', 'b in']);
  });

  it('begins at once under a key whose work is done', async () => {
    const takeTurn = createKeyedQueue();
    const { log, work } = noting();
    await takeTurn('k', work('a'));
    await takeTurn('k', work('b'));
    expect(log).toEqual(['a in', 'a out', 'b in', 'b out']);
  });
});
