import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../test/support/free-port.ts';

/** The core of the server under test, and the core of the load. */
export const cores = { server: '0', load: '1' } as const;

/** A server in a process of its own, on its core. */
export interface ServerProcess {
  child: ChildProcess;
  port: number;
  /** When it was started, by `performance.now()`. */
  startedAt: number;
  /** The end of what it wrote. */
  output(): string;
  stop(): Promise<void>;
}

/**
 * Starts a Node program on the core of the server; it finds its port in `PORT`. What it writes goes into a file.
 * @param folder where that file goes
 * @param args of node
 * @param port a free one where none is given
 */
export async function startServer(
  folder: string,
  args: readonly string[],
  env: Record<string, string> = {},
  port?: number,
): Promise<ServerProcess> {
  port ??= await freePort();
  const file = join(folder, `output-${port}.log`);
  const output = openSync(file, 'w');
  const startedAt = performance.now();
  const child = spawn('taskset', ['-c', cores.server, process.execPath, ...args], {
    env: { ...process.env, NODE_ENV: 'production', PORT: String(port), ...env },
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  return {
    child,
    port,
    startedAt,
    output: () => readFileSync(file, 'utf8').slice(-1000),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      const force = setTimeout(() => child.kill('SIGKILL'), 5000);
      await ended;
      clearTimeout(force);
    },
  };
}

/**
 * Waits until something can be done, trying every few milliseconds.
 * @returns milliseconds from the start of the server to the first success
 * @throws Error with the last failure and the output of the server
 */
export async function waitUntil(
  server: ServerProcess,
  succeeds: () => Promise<boolean>,
  patienceMs = 30_000,
): Promise<number> {
  let last = '';
  while (performance.now() - server.startedAt < patienceMs) {
    if (server.child.exitCode !== null) break;
    try {
      if (await succeeds()) return performance.now() - server.startedAt;
    } catch (error) {
      last = String(error);
    }
    await pause(3);
  }
  throw new Error(`the server was not ready. ${last}\n${server.output()}`);
}

/** Has a server collect its garbage, which it does at SIGUSR2, until nothing more comes of it. */
export async function collectGarbage({ child }: ServerProcess): Promise<void> {
  for (let times = 0; times < 4; times++) {
    child.kill('SIGUSR2');
    await pause(400);
  }
}

/** Resident memory of a process, in kilobytes. */
export function residentKilobytes({ child }: ServerProcess): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]);
}

/** Processor time a process has used, in microseconds. */
export function processorMicroseconds({ child }: Pick<ServerProcess, 'child'>): number {
  const [, fields = ''] = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ');
  const parts = fields.split(' ');
  const ticksPerSecond = 100;
  return ((Number(parts[11]) + Number(parts[12])) * 1_000_000) / ticksPerSecond;
}
