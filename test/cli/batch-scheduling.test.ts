import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { testFolder } from '../client/support/folder.ts';
import { childrenOf, statOf } from '../support/processes.ts';
import { type Program, runExecutable } from '../support/program.ts';
import { commandLine } from '../support/served.ts';

/** Policies of Linux, as /proc numbers them. */
const [other, batch, idle] = [0, 3, 5];

/** The scheduling policies of all threads of a process. */
function policiesOf(pid: number): Set<number> {
  const threads = readdirSync(`/proc/${pid}/task`);
  return new Set(threads.map((thread) => Number(statOf(`${pid}/task/${thread}`)[38])));
}

/** A `gatehouse serve` that keeps a program ready behind its route. */
async function serve(
  settings: object,
  { before = [], env = {} }: { before?: readonly string[]; env?: Record<string, string> } = {},
): Promise<{ server: number; program: number; served: Program }> {
  const folder = testFolder();
  const config = join(folder, 'gatehouse.json');
  const backend = { command: process.execPath, args: ['-e', 'process.stdin.resume()'], spare: 1 };
  writeFileSync(config, JSON.stringify({ ...settings, data: folder, routes: { echo: { backend } } }));
  const command = [...before, process.execPath, commandLine, 'serve', '--config', config, '--port', '0'];
  const [first = '', ...args] = command;
  const served: Program = runExecutable(first, args, { input: '', env });
  onTestFinished(() => served.stop());
  await served.waitFor('stdout', /Stop with Ctrl\+C/);
  const server = served.process.pid as number;
  const started = () =>
    childrenOf(server).find(({ pid }) =>
      readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('stdin.resume'),
    );
  await expect.poll(started, { timeout: 10_000 }).toBeDefined();
  return { server, program: started()?.pid as number, served };
}

describe.runIf(process.platform === 'linux')('batch scheduling', () => {
  it('is the policy of gatehouse serve, of all its threads and of the programs it starts', async () => {
    const { server, program, served } = await serve({});
    expect(policiesOf(server)).toEqual(new Set([batch]));
    expect(policiesOf(program)).toEqual(new Set([batch]));
    await served.waitFor('stderr', /"scheduling":"batch","msg":"the server has started"/);
  });

  it('is not asked for where the settings want the usual policy', async () => {
    const { server, program } = await serve({ scheduling: 'other' });
    expect(policiesOf(server)).toEqual(new Set([other]));
    expect(policiesOf(program)).toEqual(new Set([other]));
  });

  it('leaves a policy the server was started with', async () => {
    const { server } = await serve({}, { before: ['chrt', '--idle', '0'] });
    expect(policiesOf(server)).toEqual(new Set([idle]));
  });

  it('is done without where the system has no chrt, and where that fails', async () => {
    const withoutTool = testFolder();
    expect(policiesOf((await serve({}, { env: { PATH: withoutTool } })).server)).toEqual(new Set([other]));
    const failing = testFolder();
    symlinkSync('/bin/false', join(failing, 'chrt'));
    expect(policiesOf((await serve({}, { env: { PATH: failing } })).server)).toEqual(new Set([other]));
  });

  it('is done without where this process may not start any other', async () => {
    const file = fileURLToPath(new URL('../../src/cli/batch-scheduling.ts', import.meta.url));
    const program = `await (await import(process.argv[1])).useBatchScheduling(); console.log('goes on');`;
    const rights = ['--permission', '--allow-fs-read=*', '--input-type=module', '--eval'];
    const { stdout } = await promisify(execFile)(process.execPath, [...rights, program, file]);
    expect(stdout).toBe('goes on\n');
  });
});
