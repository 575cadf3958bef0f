import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { IssuanceReport, IssuanceTarget, IssuanceTask } from './issuance-load.ts';
import { type Issuer, type IssuerName, startIssuer } from './issuers.ts';
import type { Pace } from './pace.ts';
import type { Row } from './report.ts';
import { cores, processorMicroseconds } from './server-process.ts';
import { type Measured, rowOfRuns, takeTurns } from './turns.ts';

/** Connections of the load. */
const connections = 16;

/** Grants that the load of the refresh row goes through. */
const loadGrants = 64;

/** Longest time for what the load does in a turn. */
const patienceMs = 120_000;

interface Work {
  name: string;
  kind: IssuanceTask['work']['kind'];
}

/** What the token endpoint is measured at. */
export const issuanceWorks = {
  exchange: { name: 'code exchange', kind: 'exchange' },
  refresh: { name: 'refresh', kind: 'refresh' },
} as const satisfies Record<string, Work>;

const subjects: readonly IssuerName[] = [
  'gatehouse',
  'oidc-provider FULL',
  'oidc-provider FULL, opaque',
  'oidc-provider NORMAL',
  'better-auth NORMAL',
];

/** The load of an issuer: one process for all turns, which is warm when they count. */
interface Load {
  /** @throws Error where one answer is not the right one, or the turn takes too long */
  run(task: IssuanceTask): Promise<Measured>;
  stop(): Promise<void>;
}

function percentile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

/** The next message of a load. @throws Error where it ends or takes too long */
async function nextMessage(load: ChildProcess): Promise<unknown> {
  const waiting = new AbortController();
  const { signal } = waiting;
  const timer = setTimeout(() => load.kill('SIGKILL'), patienceMs);
  try {
    const ended = once(load, 'exit', { signal }).then(() => undefined);
    const message = await Promise.race([once(load, 'message', { signal }), ended]);
    if (message === undefined) throw new Error('the load ended before it was done');
    return message[0];
  } finally {
    clearTimeout(timer);
    waiting.abort();
  }
}

function startLoad({ server, origin, ways }: Issuer): Load {
  const program = fileURLToPath(new URL('issuance-load.ts', import.meta.url));
  const target: IssuanceTarget = { origin, ways, connections };
  const load = spawn('taskset', ['-c', cores.load, process.execPath, program, JSON.stringify(target)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  return {
    async run(task) {
      load.send(task);
      await nextMessage(load);
      const before = processorMicroseconds(server);
      load.send('go on');
      const { done, seconds, latencies } = (await nextMessage(load)) as IssuanceReport;
      const used = processorMicroseconds(server) - before;
      const sorted = latencies.sort((a, b) => a - b);
      return {
        seconds,
        perSecond: done / seconds,
        p50: percentile(sorted, 0.5),
        p99: percentile(sorted, 0.99),
        refused: 0,
        broken: 0,
        processorMicros: used / done,
      };
    },
    async stop() {
      load.kill('SIGKILL');
      if (load.exitCode === null && load.signalCode === null) await once(load, 'exit');
    },
  };
}

/**
 * Measures how fast tokens are issued: for codes, or for refresh tokens that are rotated. Codes are got before the time
 * is taken.
 * @param issuers starts each of those that are compared, by the name of its row
 * @throws Error where one answer is not the right one
 */
export async function measureIssuance(
  { name: work, kind }: Work,
  pace: Pace,
  folder: string,
  issuers: Readonly<Record<string, () => Promise<Issuer>>> = Object.fromEntries(
    subjects.map((name) => [name, () => startIssuer(name, folder)]),
  ),
): Promise<Row[]> {
  const started: { name: string; issuer: Issuer; load: Load }[] = [];
  try {
    for (const [name, start] of Object.entries(issuers)) {
      const issuer = await start();
      started.push({ name, issuer, load: startLoad(issuer) });
    }
    const runs = await takeTurns(started, pace, ({ load }, seconds) =>
      kind === 'refresh'
        ? load.run({ work: { kind, seconds }, codes: loadGrants })
        : load.run({ work: { kind }, codes: pace.codes }),
    );
    return started.map(({ name }, at) => rowOfRuns(work, name, runs[at] ?? []));
  } finally {
    await Promise.all(started.map(({ load }) => load.stop()));
    await Promise.all(started.map(({ issuer }) => issuer.server.stop()));
  }
}
