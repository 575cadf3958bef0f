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
const [other, batch] = [0, 3];

/** The scheduling policies of all threads of a process. */
function policiesOf(pid: number): Set<number> {
  const threads = readdirSync(`/proc/${pid}/task`);
  return new Set(threads.map((thread) => Number(statOf(`${pid}/task/${thread}`)[38])));
}

/** The line of the log that names the policy of a server. */
const logged = (policy: string): RegExp =>
  new RegExp(`"scheduling":"${policy}","msg":"the server has started"`);

/** A `gatehouse serve` that keeps a program ready behind its route. */
async function serve(
  settings: object,
  env: Record<string, string> = {},
): Promise<{ server: number; program: number; served: Program }> {
  const folder = testFolder();
  const config = join(folder, 'gatehouse.json');
  const backend = { command: process.execPath, args: ['-e', 'process.stdin.resume()'], spare: 1 };
  writeFileSync(config, JSON.stringify({ ...settings, data: folder, routes: { echo: { backend } } }));
  const args = [commandLine, 'serve', '--config', config, '--port', '0'];
  const served: Program = runExecutable(process.execPath, args, { input: '', env });
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

/** Runs a program that has what is tested here, and gives what it wrote. */
async function runBeside(program: string, options: readonly string[] = []): Promise<string> {
  const file = fileURLToPath(new URL('../../src/cli/batch-scheduling.ts', import.meta.url));
  const whole = `const { schedulingPolicy, useBatchScheduling } = await import(process.argv[1]); ${program}`;
  const args = [...options, '--input-type=module', '--eval', whole, file];
  return (await promisify(execFile)(process.execPath, args)).stdout;
}

describe.runIf(process.platform === 'linux')('batch scheduling', () => {
  it('is the policy of gatehouse serve, of all its threads and of the programs it starts', async () => {
    const { server, program, served } = await serve({});
    expect(policiesOf(server)).toEqual(new Set([batch]));
    expect(policiesOf(program)).toEqual(new Set([batch]));
    await served.waitFor('stderr', logged('batch'));
  });

  it('is not asked for where the settings want the usual policy', async () => {
    const { server, program, served } = await serve({ scheduling: 'other' });
    expect(policiesOf(server)).toEqual(new Set([other]));
    expect(policiesOf(program)).toEqual(new Set([other]));
    await served.waitFor('stderr', logged('other'));
  });

  // Idle only for this moment: a whole server would wait for other tests to leave it the processor.
  it('leaves a policy the server was started with', async () => {
    const become = `(await import('node:child_process')).execFileSync('chrt', ['--idle', '--pid', '0', String(process.pid)])`;
    const program = `${become}; await useBatchScheduling(); console.log(schedulingPolicy());`;
    expect(await runBeside(program)).toBe('idle\n');
  });

  it('is done without where the system has no chrt, and where that fails', async () => {
    const withoutTool = testFolder();
    expect(policiesOf((await serve({}, { PATH: withoutTool })).server)).toEqual(new Set([other]));
    const failing = testFolder();
    symlinkSync('/bin/false', join(failing, 'chrt'));
    const { server, served } = await serve({}, { PATH: failing });
    expect(policiesOf(server)).toEqual(new Set([other]));
    await served.waitFor('stderr', logged('other'));
  });

  it('is done without where this process may not start any other', async () => {
    const program = `await useBatchScheduling(); console.log('goes on');`;
    expect(await runBeside(program, ['--permission', '--allow-fs-read=*'])).toBe('goes on\n');
  });
});
