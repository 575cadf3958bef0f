import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Pace } from './pace.ts';
import type { Row } from './report.ts';
import { openSession } from './requests.ts';
import { collectGarbage, cores, residentKilobytes, type ServerProcess } from './server-process.ts';
import type { HolderTask } from './session-holder.ts';
import { type SubjectName, startSubject } from './subjects.ts';

const subjects: readonly SubjectName[] = ['gatehouse', 'session floor', 'sdk1 session', 'sdk2 session'];

/** Sessions opened before the first reading, so that code that is loaded late counts for none. */
const warmUpSessions = 20;

interface Step {
  done: number;
  seconds: number;
}

/** Resident memory once garbage is collected. */
async function settledKilobytes(server: ServerProcess): Promise<number> {
  await collectGarbage(server);
  return residentKilobytes(server);
}

async function measureOne(name: SubjectName, count: number, folder: string): Promise<Row[]> {
  const { server, url, token } = await startSubject(name, folder, { nodeOptions: ['--expose-gc'] });
  for (let times = 0; times < warmUpSessions; times++) await openSession(url, token);
  const empty = await settledKilobytes(server);
  const task: HolderTask = { url, token, count };
  const holder = spawn(
    'taskset',
    [
      ...['-c', cores.load, process.execPath],
      fileURLToPath(new URL('session-holder.ts', import.meta.url)),
      JSON.stringify(task),
    ],
    { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] },
  );
  const steps: Step[] = [];
  holder.on('message', (step: Step) => steps.push(step));
  const nextStep = async (at: number): Promise<Step> => {
    for (let tries = 0; tries < 1200 && steps[at] === undefined && holder.exitCode === null; tries++)
      await pause(100);
    const step = steps[at];
    if (step?.done !== count)
      throw new Error(`${name} held ${step?.done ?? 0} of ${count}. ${server.output()}`);
    return step;
  };
  const row = (work: string, value: number, unit: string): Row => ({
    work,
    subject: name,
    value,
    unit,
    details: { sessions: count },
  });
  try {
    const opened = await nextStep(0);
    const idle = await settledKilobytes(server);
    holder.send('go on');
    await nextStep(1);
    const streaming = await settledKilobytes(server);
    return [
      row('sessions opened', opened.done / opened.seconds, '/s'),
      row('memory, idle session', (idle - empty) / count, 'KB'),
      row('memory, open stream', (streaming - empty) / count, 'KB'),
    ];
  } finally {
    holder.kill('SIGKILL');
    if (holder.exitCode === null && holder.signalCode === null) await once(holder, 'exit');
    await server.stop();
  }
}

/** Measures how fast sessions are opened, and what they cost in memory while they are idle or hold a stream. */
export async function measureSessions({ heldSessions }: Pace, folder: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (const name of subjects) rows.push(...(await measureOne(name, heldSessions, folder)));
  return rows;
}
