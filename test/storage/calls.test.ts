import { describe, expect, it } from 'vitest';
import {
  addToBuckets,
  callBuckets,
  chainedValues,
  conditionsOf,
  droppedAtOnce,
  findDroppable,
  hoursOf,
  toStorable,
} from '../../src/storage/calls.ts';
import { call, calls, startMs } from './contract/call.ts';

describe('the sums of calls by hour', () => {
  it('have a group for each hour, route, backend, method, target, client and outcome', () => {
    const others = [
      ...[{ at: startMs + 3_600_000 }, { at: startMs - 1 }, { route: '/x' }, { backend: 'b' }],
      ...[{ method: 'prompts/get' }, { target: 'other' }, { client: 'cli' }, { outcome: 'error' as const }],
    ];
    const hours = hoursOf([...calls(3), ...others.map((more) => call(1, more))]);
    expect(hours.map((hour) => hour.calls)).toEqual([3, ...others.map(() => 1)]);
    expect(new Set(hours.map(({ hour }) => hour))).toEqual(
      new Set([startMs, startMs + 3_600_000, startMs - 3_600_000]),
    );
  });

  it('do not depend on account, times and sizes, which they add up', () => {
    const [hour, ...more] = hoursOf([
      call(1, { ms: 7, bytesOut: 1 }),
      call(2, { ms: 9, bytesOut: 2, account: 'bob' }),
    ]);
    expect([hour, more]).toMatchObject([{ calls: 2, ms: 16, bytesOut: 3 }, []]);
  });

  it('count a call in the bucket whose bound it does not exceed, and the slowest in the last one', () => {
    const placeOf = (ms: number): number | undefined => hoursOf([call(1, { ms })])[0]?.buckets.indexOf(1);
    expect([0, 5, 6, 10, 30_000, 30_001].map(placeOf)).toEqual([0, 0, 1, 1, 11, 12]);
    expect(hoursOf(calls(1))[0]?.buckets).toHaveLength(callBuckets.length + 1);
  });

  it('are added bucket by bucket', () => {
    expect(addToBuckets([1, 2], [10, 20, 30])).toEqual([11, 22, 30]);
  });
});

it('A call without columns that came later is in the chain as an earlier program sealed it', () => {
  const row = { ...call(1), seq: 7, arguments: Uint8Array.of(1) };
  const before = JSON.stringify([
    ...[7, startMs + 1, 'ada', 'app', null, '/', null, null, 'http', '2025-11-25', 'tools/call', 'add_note'],
    ...[null, null, null, 'ok', null, null, 1, 10, 100, false, false, 'request-1', null],
  ]);
  expect(JSON.stringify(chainedValues({ ...row, arguments: null }))).toBe(before);
  expect(chainedValues(row)).toEqual([...(JSON.parse(before) as unknown[]), expect.any(String)]);
  expect(chainedValues({ ...row, waitMs: 0 }).at(-1)).toEqual([null, null, 0]);
});

describe('the batches to drop', () => {
  const seal = (batch: number, size: number) => ({
    ...{ batch, at: batch, lastSeq: batch * size, calls: size, lost: 0, gap: null, digest: '', mac: '' },
  });
  const batches = (count: number, size: number) =>
    Array.from({ length: count }, (_, index) => seal(index + 1, size));
  const find = (count: number, size: number, before: number, maxRows: number): number[] =>
    findDroppable(batches(count, size), count * size, { nowMs: count, before, maxRows }).map(
      ({ batch }) => batch,
    );

  it('are the oldest ones, by time or by number, whichever drops more', () => {
    expect(find(5, 10, 3, 1_000)).toEqual([1, 2]);
    expect(find(5, 10, 0, 30)).toEqual([1, 2]);
    expect(find(5, 10, 0, 29)).toEqual([1, 2, 3]);
    expect(find(5, 10, 3, 29)).toEqual([1, 2, 3]);
    expect(find(5, 10, 0, 50)).toEqual([]);
    expect(find(5, 10, 6, 0)).toEqual([1, 2, 3, 4, 5]);
  });

  it('are never behind one that is kept, though a node with another clock wrote it', () => {
    const [first, second] = batches(2, 10);
    if (!first || !second) throw new Error('there are two');
    const slow = { ...second, at: 0 };
    expect(findDroppable([first, slow], 20, { nowMs: 2, before: 1, maxRows: 100 })).toEqual([]);
  });

  it('are those of a clock that was ahead, once a later batch with a time of the past is old', () => {
    const [first, second, third] = batches(3, 10);
    if (!first || !second || !third) throw new Error('there are three');
    const ahead = { ...second, at: 99 };
    const findBehind = (oldest: Parameters<typeof findDroppable>[0], before: number, later?: typeof third) =>
      findDroppable(oldest, 30, { nowMs: 5, before, maxRows: 100 }, later).map(({ batch }) => batch);
    expect(findBehind([first, ahead, third], 3)).toEqual([1]);
    expect(findBehind([first, ahead, third], 4)).toEqual([1, 2, 3]);
    expect(findBehind([first, ahead], 4)).toEqual([1]);
    expect(findBehind([first, ahead], 4, third)).toEqual([1, 2]);
    expect(findBehind([first, ahead], 4, first)).toEqual([1]);
  });

  it('are as many as one commit drops, and a large one alone', () => {
    expect(find(50, 100, 99, 0)).toHaveLength(droppedAtOnce.calls / 100);
    expect(find(2, droppedAtOnce.calls + 1, 99, 0)).toEqual([1]);
  });
});

describe('a stored call', () => {
  it('has no text that a database would change, and is the same otherwise', () => {
    const given = call(1, {
      target: 'a\0b\uD83D',
      argumentNames: 'ü,\u{1F600}',
      arguments: Uint8Array.of(0),
    });
    expect(toStorable(given)).toEqual({ ...given, target: 'a\uFFFDb\uFFFD' });
  });
});

describe('the conditions of a query', () => {
  it('are those that are given', () => {
    expect(conditionsOf({})).toEqual([]);
    expect(conditionsOf({ grant: undefined, account: 'ada', since: 0 } as never)).toEqual([
      ['account = ?', 'ada'],
      ['at >= ?', 0],
    ]);
  });

  it('name the failed calls, which have an index of their own', () => {
    expect(conditionsOf({ outcome: 'error' })).toEqual([['outcome = ?', 'error'], ["outcome <> 'ok'"]]);
    expect(conditionsOf({ outcome: 'ok' })).toEqual([['outcome = ?', 'ok']]);
  });
});
