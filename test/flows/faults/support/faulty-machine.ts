import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ada } from '../../../support/gatehouse.ts';
import { type Program, runExecutable } from '../../../support/program.ts';
import { commandLine } from '../../../support/served.ts';

/** Whether this machine lets the tests mount a file system of their own. */
export const mayMount =
  spawnSync('unshare', ['-m', 'sh', '-c', 'mount -t tmpfs tmpfs /mnt'], { stdio: 'ignore' }).status === 0;

/** Whether a tool is installed. */
export function isInstalled(tool: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${tool}`], { stdio: 'ignore' }).status === 0;
}

/** A `gatehouse serve` on a machine with a fault. */
export interface FaultyServer {
  url: string;
  mcpUrl: string;
  program: Program;
}

const environment = {
  GATEHOUSE_ACCOUNT_EMAIL: ada.email,
  GATEHOUSE_ACCOUNT_PASSWORD: ada.password,
};

/** What starts the server. Its exec keeps the process id. */
export const serveCommand = (data: string, port = 0): string[] => [
  process.execPath,
  commandLine,
  'serve',
  '--port',
  String(port),
  '--json',
  '--data',
  data,
];

/**
 * Starts the server by a command that ends in {@link serveCommand}.
 * @param command for instance `sh -c 'ulimit -n 64; exec "$@"' sh …`
 */
export async function startServer(
  command: readonly string[],
  env: Record<string, string> = {},
): Promise<FaultyServer> {
  const [executable = '', ...args] = command;
  const program = runExecutable(executable, args, { input: '', env: { ...environment, ...env } });
  const [, port = ''] = await program.waitFor('stdout', /"port": (\d+)[\s\S]*\n\}/);
  const url = `http://localhost:${port}`;
  return { url, mcpUrl: `${url}/mcp`, program };
}

/**
 * Starts the server with its data on a small file system of its own, in a mount namespace of its own.
 * @param folder an empty folder
 * @returns the server, and what runs a command where it lives
 */
export async function startOnSmallDisk(
  folder: string,
  sizeMb: number,
): Promise<FaultyServer & { run: (command: string) => void; data: string }> {
  const data = join(folder, 'data');
  const mount = `mount -t tmpfs -o size=${sizeMb}m tmpfs "${folder}" && exec "$@"`;
  const server = await startServer(['unshare', '-m', 'sh', '-c', mount, 'sh', ...serveCommand(data)]);
  const { pid } = server.program.process;
  return {
    ...server,
    data,
    run: (command) =>
      void execFileSync('nsenter', ['-t', String(pid), '-m', 'sh', '-c', command], { stdio: 'ignore' }),
  };
}

/** Asks until an answer has this status. Gives the milliseconds it took. */
export async function waitForStatus(
  ask: () => Promise<number>,
  status: number,
  patienceMs: number,
): Promise<number> {
  const begun = performance.now();
  for (;;) {
    const seen = await ask().catch(() => 0);
    const took = performance.now() - begun;
    if (seen === status) return took;
    if (took > patienceMs) throw new Error(`still ${seen}, not ${status}, after ${patienceMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
