import { randomBytes } from 'node:crypto';
import { median } from './median.ts';
import type { Pace } from './pace.ts';
import type { Row } from './report.ts';
import { callBody, checkEcho, headersFor, type Load, type Mode, openSession } from './requests.ts';
import { type Subject, type SubjectName, startSubject } from './subjects.ts';
import { type Measured, runWrk } from './wrk.ts';

/** Connections of the load. */
const connections = 32;

/** Sessions the load of a session row goes through. */
const loadSessions = 64;

type Work = { name: string; mode: Mode; isRefused?: boolean; subjects: readonly SubjectName[] };

const adapters: readonly SubjectName[] = ['sdk2 node', 'sdk2 express', 'sdk2 hono', 'sdk2 fastify'];

/** What is measured, and beside whom. */
export const callWorks = {
  modern: { name: 'call, 2026-07-28', mode: 'modern', subjects: ['gatehouse', 'koa', ...adapters] },
  session: {
    name: 'call, session',
    mode: 'session',
    subjects: ['gatehouse', 'sdk1 session', 'sdk2 session'],
  },
  stateless: {
    name: 'call, stateless',
    mode: 'stateless',
    subjects: ['gatehouse', 'koa', 'sdk1 stateless', ...adapters],
  },
  refused: { name: 'bad token', mode: 'modern', isRefused: true, subjects: ['gatehouse', 'koa'] },
} as const satisfies Record<string, Work>;

async function prepareLoad(
  { mode, isRefused }: Work,
  { url, token }: Subject,
  name: SubjectName,
): Promise<Load> {
  const body = callBody(mode);
  if (isRefused && name !== 'koa')
    return { url, headers: headersFor(mode, randomBytes(32).toString('base64url')), body };
  const load = { url, headers: headersFor(mode, token), body };
  if (mode !== 'session') return load;
  const sessions = await Promise.all(Array.from({ length: loadSessions }, () => openSession(url, token)));
  return { ...load, sessions };
}

function toRow(work: Work, subject: SubjectName, runs: readonly Measured[]): Row {
  const middle = (of: (run: Measured) => number): number => median(runs.map(of));
  const sum = (of: (run: Measured) => number): number => runs.map(of).reduce((a, b) => a + b, 0);
  const failed =
    (work.isRefused && subject !== 'koa' ? 0 : sum((run) => run.refused)) + sum((run) => run.broken);
  return {
    work: work.name,
    subject,
    value: middle((run) => run.perSecond),
    unit: '/s',
    details: {
      p50: middle((run) => run.p50),
      p99: middle((run) => run.p99),
      'CPU µs': middle((run) => run.processorMicros),
      ...(failed > 0 ? { FAILED: failed } : {}),
    },
  };
}

/** Measures one work: all its servers run side by side, one of them under load at a time. */
export async function measureCalls(work: Work, pace: Pace, folder: string): Promise<Row[]> {
  const started: { name: SubjectName; subject: Subject; load: Load; runs: Measured[] }[] = [];
  try {
    for (const name of work.subjects) {
      const sessions = work.mode === 'stateless' ? 'none' : 'stored';
      const subject = await startSubject(name, folder, { sessions });
      const entry = { name, subject, load: { url: subject.url, headers: {}, body: '' }, runs: [] };
      started.push(entry);
      entry.load = await prepareLoad(work, subject, name);
      if (!work.isRefused) await checkEcho(entry.load);
    }
    for (const { subject, load } of started)
      await runWrk(subject.server, load, { folder, connections, seconds: pace.warmUpSeconds });
    for (let round = 0; round < pace.rounds; round++) {
      for (const { subject, load, runs } of started)
        runs.push(await runWrk(subject.server, load, { folder, connections, seconds: pace.seconds }));
    }
    return started.map(({ name, runs }) => toRow(work, name, runs));
  } finally {
    await Promise.all(started.map(({ subject }) => subject.server.stop()));
  }
}
