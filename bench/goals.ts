import { median } from './median.ts';
import type { Goal, Round, Row } from './report.ts';

/** How a number of ours has to stand to those beside it in the same run. */
interface Rule {
  work: string;
  rule: string;
  wanted: number;
  /** `least`: not below what is wanted; `most`: not above. */
  bound: 'least' | 'most';
  /** Gives the number; undefined where a row it needs was not measured. */
  reach(find: (work: string, subject: string) => Row | undefined): number | undefined;
}

/**
 * Compares servers round by round: between rounds a shared machine is faster and slower by half, within one less.
 * @param compare gets what one round saw of each
 * @returns the middle of all rounds; undefined where they did not have the same
 */
function byRounds<Rows extends readonly Row[]>(
  rows: Rows,
  compare: (...seen: { [At in keyof Rows]: Round }) => number,
): number | undefined {
  const [first = [], ...others] = rows.map(({ rounds }) => rounds ?? []);
  if (first.length === 0 || others.some(({ length }) => length !== first.length)) return undefined;
  const seen = first.map((round, at) => [round, ...others.map((rounds) => rounds[at])]);
  return median(seen.map((round) => compare(...(round as { [At in keyof Rows]: Round }))));
}

/** Our rate over the best of theirs. */
function overBest(work: string, peers: readonly string[]): Rule['reach'] {
  return (find) => {
    const ours = find(work, 'gatehouse');
    const [best] = peers
      .map((peer) => find(work, peer))
      .filter((row) => row !== undefined)
      .sort((one, other) => other.value - one.value);
    if (!ours || !best) return undefined;
    return byRounds([ours, best], (our, their) => our.perSecond / their.perSecond) ?? ours.value / best.value;
  };
}

/** What bare Koa answers in a second on the machine whose milliseconds our goals are. */
const koaPerSecond = 57_195;

/** A latency, were this machine as fast as the one of the goal. */
const atGoalSpeed = (milliseconds: number, koa: Round): number =>
  (milliseconds * koa.perSecond) / koaPerSecond;

/** Our p99 in milliseconds, at the speed of the goal in each round. */
function p99AtGoalSpeed(work: string): Rule['reach'] {
  return (find) => {
    const [ours, koa] = [find(work, 'gatehouse'), find(work, 'koa')];
    return ours && koa && byRounds([ours, koa], (our, floor) => atGoalSpeed(our.p99, floor));
  };
}

/** What we add to the p50 of the server behind us, in milliseconds, at the speed of the goal in each round. */
function addedAtGoalSpeed(work: string): Rule['reach'] {
  return (find) => {
    const [ours, itself, koa] = [find(work, 'gatehouse'), find(work, 'server itself'), find(work, 'koa')];
    return (
      ours &&
      itself &&
      koa &&
      byRounds([ours, itself, koa], (our, direct, floor) => atGoalSpeed(our.p50 - direct.p50, floor))
    );
  };
}

/** Rate of one subject over that of another, or a latency minus another, round by round. */
function compareRows(
  work: string,
  [one, other]: readonly [string, string],
  compare: (one: Round, other: Round) => number,
): Rule['reach'] {
  return (find) => {
    const rows = [find(work, one), find(work, other)] as const;
    return rows[0] && rows[1] && byRounds([rows[0], rows[1]], compare);
  };
}

/** The rate of a node on PostgreSQL over that of one on SQLite. */
function overSqlite(work: string): Rule['reach'] {
  const rate = (one: Round, other: Round): number => one.perSecond / other.perSecond;
  return compareRows(work, ['gatehouse, PostgreSQL', 'gatehouse'], rate);
}

function own(work: string): Rule['reach'] {
  return (find) => find(work, 'gatehouse')?.value;
}

/** oidc-provider as a careful team would run it, with either form of access tokens. */
const oidcProvider = ['oidc-provider FULL', 'oidc-provider FULL, opaque'];

const adapters = ['sdk2 node', 'sdk2 express', 'sdk2 hono', 'sdk2 fastify'];

const rules: readonly Rule[] = [
  {
    work: 'call, 2026-07-28',
    rule: 'times SDK v2 node',
    wanted: 5,
    bound: 'least',
    reach: overBest('call, 2026-07-28', ['sdk2 node']),
  },
  {
    work: 'call, 2026-07-28',
    rule: 'of bare Koa',
    wanted: 0.4,
    bound: 'least',
    reach: overBest('call, 2026-07-28', ['koa']),
  },
  {
    work: 'call, 2026-07-28',
    rule: 'p99 in ms, were Koa at 57,195/s',
    wanted: 5,
    bound: 'most',
    reach: p99AtGoalSpeed('call, 2026-07-28'),
  },
  {
    work: 'call, session',
    rule: 'times SDK v1 session',
    wanted: 4,
    bound: 'least',
    reach: overBest('call, session', ['sdk1 session']),
  },
  {
    work: 'call, stateless',
    rule: 'times SDK v1 stateless',
    wanted: 5,
    bound: 'least',
    reach: overBest('call, stateless', ['sdk1 stateless']),
  },
  {
    work: 'call, stateless',
    rule: 'times the best SDK v2 adapter',
    wanted: 4,
    bound: 'least',
    reach: overBest('call, stateless', adapters),
  },
  {
    work: 'bad token',
    rule: 'of bare Koa',
    wanted: 0.6,
    bound: 'least',
    reach: overBest('bad token', ['koa']),
  },
  {
    work: 'sessions opened',
    rule: 'times SDK v1 session',
    wanted: 2,
    bound: 'least',
    reach: overBest('sessions opened', ['sdk1 session']),
  },
  {
    work: 'memory, idle session',
    rule: 'KB each',
    wanted: 20,
    bound: 'most',
    reach: own('memory, idle session'),
  },
  {
    work: 'memory, open stream',
    rule: 'KB each',
    wanted: 35,
    bound: 'most',
    reach: own('memory, open stream'),
  },
  {
    work: 'code exchange',
    rule: 'times oidc-provider FULL',
    wanted: 1.2,
    bound: 'least',
    reach: overBest('code exchange', oidcProvider),
  },
  {
    work: 'code exchange',
    rule: 'times better-auth',
    wanted: 5,
    bound: 'least',
    reach: overBest('code exchange', ['better-auth NORMAL']),
  },
  {
    work: 'refresh',
    rule: 'times oidc-provider FULL',
    wanted: 1.2,
    bound: 'least',
    reach: overBest('refresh', oidcProvider),
  },
  {
    work: 'refresh',
    rule: 'times oidc-provider NORMAL',
    wanted: 1,
    bound: 'least',
    reach: overBest('refresh', ['oidc-provider NORMAL']),
  },
  {
    work: 'refresh',
    rule: 'times better-auth',
    wanted: 5,
    bound: 'least',
    reach: overBest('refresh', ['better-auth NORMAL']),
  },
  {
    work: 'registration',
    rule: 'times oidc-provider FULL',
    wanted: 2,
    bound: 'least',
    reach: overBest('registration', oidcProvider),
  },
  {
    work: 'metadata',
    rule: 'times oidc-provider',
    wanted: 1,
    bound: 'least',
    reach: overBest('metadata', oidcProvider),
  },
  {
    work: 'gateway to stdio',
    rule: 'times mcp-proxy',
    wanted: 3,
    bound: 'least',
    reach: overBest('gateway to stdio', ['mcp-proxy']),
  },
  {
    work: 'gateway to stdio, one connection',
    rule: 'p50 in ms over the server itself, were Koa at 57,195/s',
    wanted: 0.2,
    bound: 'most',
    reach: addedAtGoalSpeed('gateway to stdio, one connection'),
  },
  {
    work: 'gateway to HTTP',
    rule: 'times the library of mcp-proxy',
    wanted: 3,
    bound: 'least',
    reach: overBest('gateway to HTTP', ['mcp-proxy library']),
  },
  {
    work: 'memory, idle person',
    rule: 'MB each',
    wanted: 0.1,
    bound: 'most',
    reach: own('memory, idle person'),
  },
  {
    work: 'cold start',
    rule: 'times SDK v1 session',
    wanted: 1.3,
    bound: 'most',
    reach: overBest('cold start', ['sdk1 session']),
  },
  ...[
    ['code exchange, by storage', 0.5],
    ['refresh, by storage', 0.5],
    ['call, 2026-07-28, by storage', 0.95],
    ['call, session, by storage', 0.95],
  ].map(
    ([work, wanted]): Rule => ({
      ...{ work: String(work), wanted: Number(wanted), reach: overSqlite(String(work)) },
      ...{ rule: 'of SQLite FULL, on PostgreSQL', bound: 'least' },
    }),
  ),
  {
    work: 'token unknown to a node',
    rule: 'queries',
    wanted: 1,
    bound: 'most',
    reach: own('token unknown to a node'),
  },
  {
    work: 'call, session, two nodes',
    rule: 'p50 in ms that forwarding adds',
    wanted: 1,
    bound: 'most',
    reach: compareRows(
      'call, session, two nodes',
      ['forwarded', 'at its node'],
      (forwarded, direct) => forwarded.p50 - direct.p50,
    ),
  },
];

/** Holds the rows of one run against our goals; those whose rows are missing are left out. */
export function judge(rows: readonly Row[]): Goal[] {
  const find = (work: string, subject: string): Row | undefined =>
    rows.find((row) => row.work === work && row.subject === subject);
  return rules.flatMap(({ work, rule, wanted, bound, reach }) => {
    const reached = reach(find);
    if (reached === undefined) return [];
    return [
      { work, rule, wanted, reached, holds: bound === 'least' ? reached >= wanted : reached <= wanted },
    ];
  });
}
