import { describe, expect, it } from 'vitest';
import { judge } from '../../bench/goals.ts';
import { median } from '../../bench/median.ts';
import { formatGoals, formatRows, type Row } from '../../bench/report.ts';

const row = (work: string, subject: string, value: number, details: Row['details'] = {}): Row => ({
  work,
  subject,
  value,
  unit: '/s',
  details,
});

describe('our goals', () => {
  it('are ratios to the peers of the same run, the best one where several are meant', () => {
    const goals = judge([
      row('call, stateless', 'gatehouse', 20_000),
      row('call, stateless', 'sdk1 stateless', 2000),
      row('call, stateless', 'sdk2 node', 4000),
      row('call, stateless', 'sdk2 hono', 8000),
      row('call, stateless', 'koa', 50_000),
    ]);
    expect(goals.map(({ rule, reached, holds }) => [rule, reached, holds])).toEqual([
      ['times SDK v1 stateless', 10, true],
      ['times the best SDK v2 adapter', 2.5, false],
    ]);
  });

  it('are upper bounds for memory, latency and starts', () => {
    const goals = judge([
      row('memory, idle session', 'gatehouse', 20),
      row('memory, open stream', 'gatehouse', 36),
      row('cold start', 'gatehouse', 401),
      row('cold start', 'sdk1 session', 300),
    ]);
    expect(Object.fromEntries(goals.map(({ work, holds }) => [work, holds]))).toEqual({
      'memory, idle session': true,
      'memory, open stream': false,
      'cold start': false,
    });
  });

  it('are the middle of the ratios of all rounds, as a machine is faster and slower from one to the next', () => {
    const work = 'call, session';
    const goals = judge([
      {
        ...row(work, 'gatehouse', 5000),
        rounds: [5000, 1200, 9000].map((perSecond) => ({ perSecond, p50: 1, p99: 1 })),
      },
      {
        ...row(work, 'sdk1 session', 1000),
        rounds: [1000, 400, 2000].map((perSecond) => ({ perSecond, p50: 1, p99: 1 })),
      },
    ]);
    expect(goals.map(({ reached }) => reached)).toEqual([4.5]);
  });

  it('are the ratio of the middle of each where they did not have the same rounds', () => {
    const work = 'call, session';
    const goals = judge([
      { ...row(work, 'gatehouse', 5000), rounds: [{ perSecond: 9000, p50: 1, p99: 1 }] },
      { ...row(work, 'sdk1 session', 1000), rounds: [] },
    ]);
    expect(goals.map(({ reached }) => reached)).toEqual([5]);
  });

  it('are of a machine of known speed where they are times: a round counts by what bare Koa reached in it', () => {
    const work = 'call, 2026-07-28';
    const rounds = (...each: [number, number][]) =>
      each.map(([perSecond, p99]) => ({ perSecond, p50: 1, p99 }));
    const goals = judge([
      { ...row(work, 'gatehouse', 12_000), rounds: rounds([12_000, 8], [6000, 24], [20_000, 4]) },
      { ...row(work, 'koa', 28_000), rounds: rounds([28_597.5, 3], [14_298.75, 6], [57_195, 1]) },
    ]);
    const latency = goals.find(({ rule }) => rule.startsWith('p99'));
    expect([latency?.reached, latency?.holds]).toEqual([4, true]);
  });

  it('hold Gatehouse against the faster form of tokens of an engine that has two', () => {
    const goals = judge([
      row('refresh', 'gatehouse', 5000),
      row('refresh', 'oidc-provider FULL', 1000),
      row('refresh', 'oidc-provider FULL, opaque', 4500),
      row('refresh', 'oidc-provider NORMAL', 4500),
    ]);
    expect(goals.map(({ rule, reached, holds }) => [rule, reached, holds])).toEqual([
      ['times oidc-provider FULL', 5000 / 4500, false],
      ['times oidc-provider NORMAL', 5000 / 4500, true],
    ]);
  });

  it('hold what a gateway adds against the server itself, and its rates against other gateways', () => {
    const alone = 'gateway to stdio, one connection';
    const rounds = (p50: number, perSecond = 1 / p50) => [{ perSecond, p50, p99: 1 }];
    const goals = judge([
      { ...row(alone, 'server itself', 0.1), rounds: rounds(0.1) },
      { ...row(alone, 'gatehouse', 0.4), rounds: rounds(0.4) },
      { ...row(alone, 'koa', 28_597.5), rounds: rounds(1, 28_597.5) },
      row('gateway to stdio', 'server itself', 80_000),
      row('gateway to stdio', 'gatehouse', 8000),
      row('gateway to stdio', 'mcp-proxy', 4000),
      row('gateway to HTTP', 'gatehouse', 4000),
      row('gateway to HTTP', 'mcp-proxy library', 1000),
      row('memory, idle person', 'gatehouse', 0.11),
    ]);
    expect(goals.map(({ work, reached, holds }) => [work, Number(reached.toFixed(2)), holds])).toEqual([
      ['gateway to stdio', 2, false],
      [alone, 0.15, true],
      ['gateway to HTTP', 4, true],
      ['memory, idle person', 0.11, false],
    ]);
  });

  it('are left out where their rows were not measured', () => {
    expect(judge([row('call, session', 'gatehouse', 1), row('bad token', 'koa', 1)])).toEqual([]);
  });
});

describe('the report', () => {
  it('shows each row and each goal on a line of its own', () => {
    const rows = [row('bad token', 'gatehouse', 12_345.6, { p50: 1.234 }), row('bad token', 'koa', 20_000)];
    const [, first] = formatRows(rows).split('\n');
    expect(first).toMatch(/^bad token +gatehouse +12346 \/s +p50 1\.23$/);
    expect(formatGoals(judge(rows))).toMatch(/bad token +of bare Koa +0\.6 +0\.617 +holds$/);
  });

  it('takes the middle of what was measured', () => {
    expect([median([3, 1, 2]), median([4, 1, 2, 3]), median([7])]).toEqual([2, 2.5, 7]);
  });
});
