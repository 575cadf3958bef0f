import { median } from './median.ts';
import type { Pace } from './pace.ts';
import type { Row } from './report.ts';

/** What one run of a load saw. */
export interface Measured {
  /** How long it was measured. */
  seconds: number;
  perSecond: number;
  /** Latencies in milliseconds. */
  p50: number;
  p99: number;
  /** Answers that were no 2xx, and connections that broke. */
  refused: number;
  broken: number;
  /** Processor time of the server for one request, in microseconds. */
  processorMicros: number;
}

/** How much runs may be shorter than they were meant to be, all together. */
const timersDifferSeconds = 0.1;

/**
 * Puts servers that run side by side under load, one at a time: first all of them to warm up, then in rounds, so that
 * each sees the same weather. They warm up by whole runs, as connections that end and begin, and the order in which each
 * run of wrk sends its headers, are compiled for as well; where runs are short, there are more of them.
 * @param run one run of a server under load, for so many seconds
 * @returns the runs of each server, without those that warm it up
 */
export async function takeTurns<Server>(
  servers: readonly Server[],
  pace: Pace,
  run: (server: Server, seconds: number) => Promise<Measured>,
): Promise<Measured[][]> {
  for (const server of servers)
    for (let warm = 0; warm < pace.warmUpSeconds - timersDifferSeconds; ) {
      const { seconds } = await run(server, pace.seconds);
      if (!(seconds > 0)) throw new Error('a run took no time');
      warm += seconds;
    }
  const runs = servers.map((): Measured[] => []);
  for (let round = 0; round < pace.rounds; round++)
    for (const [at, server] of servers.entries()) runs[at]?.push(await run(server, pace.seconds));
  return runs;
}

/** The middle of some runs as a row: their rate, and beside it latencies and processor time. */
export function rowOfRuns(
  work: string,
  subject: string,
  runs: readonly Measured[],
  { mayBeRefused = false }: { mayBeRefused?: boolean } = {},
): Row {
  const middle = (of: (run: Measured) => number): number => median(runs.map(of));
  const failed = runs.reduce((sum, { refused, broken }) => sum + broken + (mayBeRefused ? 0 : refused), 0);
  return {
    work,
    subject,
    value: middle((run) => run.perSecond),
    unit: '/s',
    details: {
      p50: middle((run) => run.p50),
      p99: middle((run) => run.p99),
      'CPU µs': middle((run) => run.processorMicros),
      ...(failed > 0 ? { FAILED: failed } : {}),
    },
    rounds: runs.map(({ perSecond, p50, p99 }) => ({ perSecond, p50, p99 })),
  };
}
