import { randomBytes } from 'node:crypto';
import type { Pace } from './pace.ts';
import type { Row } from './report.ts';
import { callBody, checkEcho, headersFor, type Load, type Mode, openSession } from './requests.ts';
import { type Subject, type SubjectName, startSubject } from './subjects.ts';
import { rowOfRuns, takeTurns } from './turns.ts';
import { runWrk } from './wrk.ts';

/** Connections of the load. */
export const callConnections = 32;

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
  { mode, isRefused }: Pick<Work, 'mode' | 'isRefused'>,
  { url, token }: Subject,
  name: string,
): Promise<Load> {
  const body = callBody(mode);
  if (isRefused && name !== 'koa')
    return { url, method: 'POST', headers: headersFor(mode, randomBytes(32).toString('base64url')), body };
  const load: Load = { url, method: 'POST', headers: headersFor(mode, token), body };
  if (mode !== 'session') return load;
  const sessions = await Promise.all(Array.from({ length: loadSessions }, () => openSession(url, token)));
  return { ...load, sessions };
}

/** Starts the servers that a work names, each when it is called. */
function startsOf({ subjects, mode }: Work, folder: string): Record<string, () => Promise<Subject>> {
  const sessions = mode === 'stateless' ? 'none' : 'stored';
  return Object.fromEntries(subjects.map((name) => [name, () => startSubject(name, folder, { sessions })]));
}

/**
 * Measures one work: all its servers run side by side, one of them under load at a time.
 * @param starts starts each of the servers, by the name of its row
 */
export async function measureCalls(
  work: Work,
  pace: Pace,
  folder: string,
  starts: Readonly<Record<string, () => Promise<Subject>>> = startsOf(work, folder),
): Promise<Row[]> {
  const started: { name: string; subject: Subject; load: Load }[] = [];
  const servers: Subject[] = [];
  try {
    for (const [name, start] of Object.entries(starts)) {
      const subject = await start();
      servers.push(subject);
      const load = await prepareLoad(work, subject, name);
      if (!work.isRefused) await checkEcho(load);
      started.push({ name, subject, load });
    }
    const runs = await takeTurns(started, pace, ({ subject, load }, seconds) =>
      runWrk(subject.server, load, { folder, connections: callConnections, seconds }),
    );
    return started.map(({ name }, at) => {
      const mayBeRefused = work.isRefused === true && name !== 'koa';
      return rowOfRuns(work.name, name, runs[at] ?? [], { mayBeRefused });
    });
  } finally {
    await Promise.all(servers.map(({ server }) => server.stop()));
  }
}
