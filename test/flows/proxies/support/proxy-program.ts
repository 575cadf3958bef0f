import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A reverse proxy that tests start for real. */
export type ProxyProgram = 'nginx' | 'apache2' | 'haproxy' | 'caddy';

/** Where a proxy listens and where it sends requests. */
export interface Ports {
  /** On 127.0.0.1. */
  listen: number;
  upstream: number;
}

/** A configuration in the proxy's own language. */
export type Configuration = (ports: Ports, folder: string) => string;

const starts: Record<ProxyProgram, (file: string, folder: string) => string[]> = {
  nginx: (file, folder) => ['-c', file, '-e', join(folder, 'error.log')],
  apache2: (file) => ['-D', 'FOREGROUND', '-f', file],
  haproxy: (file) => ['-f', file],
  caddy: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
};

/** Folders of administrators' programs, which not every user has in PATH. */
const path = `${process.env.PATH ?? ''}:/usr/sbin:/usr/local/sbin`;

/** @returns whether a proxy is installed; without it its tests are skipped. Continuous integration installs all, see .ci/run */
export function isProxyInstalled(program: ProxyProgram): boolean {
  return spawnSync('which', [program], { env: { PATH: path } }).status === 0;
}

function readLog(folder: string): string {
  const file = join(folder, 'error.log');
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

async function waitUntilListening(port: number, child: ChildProcess, output: () => string): Promise<void> {
  for (let tries = 0; tries < 250; tries++) {
    if (child.exitCode !== null) throw new Error(`the proxy did not start:\n${output()}`);
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (open) return;
    await sleep(20);
  }
  throw new Error(`nobody listens on ${port}:\n${output()}`);
}

/**
 * Starts a proxy in a folder of its own.
 * @returns stops it: it has let go of its port then
 */
export async function startProxy(
  program: ProxyProgram,
  ports: Ports,
  configuration: Configuration,
): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), `gatehouse-${program}-`));
  mkdirSync(join(folder, 'files'));
  const file = join(folder, 'configuration');
  writeFileSync(file, configuration(ports, folder));
  let output = '';
  const child = spawn(program, starts[program](file, folder), {
    env: { PATH: path, HOME: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    const force = setTimeout(() => child.kill('SIGKILL'), 2000);
    await ended;
    clearTimeout(force);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await waitUntilListening(ports.listen, child, () => output + readLog(folder));
  } catch (error) {
    await stop();
    throw error;
  }
  return stop;
}
