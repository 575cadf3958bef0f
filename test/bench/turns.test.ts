import { describe, expect, it } from 'vitest';
import { quick } from '../../bench/pace.ts';
import { type Measured, rowOfRuns, takeTurns } from '../../bench/turns.ts';

const run = (perSecond: number, more: Partial<Measured> = {}): Measured => ({
  seconds: 2,
  perSecond,
  p50: 1,
  p99: 2,
  refused: 0,
  broken: 0,
  processorMicros: 100,
  ...more,
});

describe('turns', () => {
  it('warm up all servers by whole runs, then put each under load once a round', async () => {
    const seen: string[] = [];
    const pace = { ...quick, warmUpSeconds: 3, seconds: 2, rounds: 2 };
    const runs = await takeTurns(['a', 'b'], pace, async (server, seconds) => {
      seen.push(`${server} ${seconds}`);
      return run(seen.length);
    });
    expect(seen).toEqual(['a 2', 'a 2', 'b 2', 'b 2', 'a 2', 'b 2', 'a 2', 'b 2']);
    expect(runs.map((each) => each.map(({ perSecond }) => perSecond))).toEqual([
      [5, 7],
      [6, 8],
    ]);
  });

  it('warm up for as long under load where a run takes less', async () => {
    const seen: string[] = [];
    const pace = { ...quick, warmUpSeconds: 3, seconds: 2, rounds: 0 };
    await takeTurns(['quick', 'slow'], pace, async (server) => {
      seen.push(server);
      return run(1, { seconds: server === 'quick' ? 1 : 1.5 });
    });
    expect(seen).toEqual(['quick', 'quick', 'quick', 'slow', 'slow']);
  });

  it('become a row with the middle of their runs', () => {
    const runs = [run(10, { p50: 9 }), run(30), run(20, { processorMicros: 300 })];
    expect(rowOfRuns('refresh', 'gatehouse', runs)).toEqual({
      work: 'refresh',
      subject: 'gatehouse',
      value: 20,
      unit: '/s',
      details: { p50: 1, p99: 2, 'CPU µs': 100 },
      rounds: [
        { perSecond: 10, p50: 9, p99: 2 },
        { perSecond: 30, p50: 1, p99: 2 },
        { perSecond: 20, p50: 1, p99: 2 },
      ],
    });
  });

  it('show in the row what failed in any of them, but for refusals that are what is measured', () => {
    const runs = [run(1, { refused: 2 }), run(1, { broken: 3 })];
    expect(rowOfRuns('bad token', 'koa', runs).details.FAILED).toBe(5);
    expect(rowOfRuns('bad token', 'gatehouse', runs, { mayBeRefused: true }).details.FAILED).toBe(3);
  });
});
