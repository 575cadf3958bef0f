// A data folder that is mounted read-only (flows of src/storage/sqlite/data-folder/read-only.ts and src/storage/sqlite/data-folder/back-up.ts).
import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { testFolder } from '../../client/support/folder.ts';
import { ada } from '../../support/gatehouse.ts';
import { runExecutable } from '../../support/program.ts';
import { commandLine } from '../../support/served.ts';
import { mayMount, serveCommand, startServer } from './support/faulty-machine.ts';

/** Runs a command where its data folder is mounted read-only. */
async function runReadOnly(data: string, ...args: string[]) {
  const mount = `mount --bind "${data}" "${data}" && mount -o remount,bind,ro "${data}" && exec "$@"`;
  const command = [process.execPath, commandLine, ...args, '--data', data];
  const program = runExecutable('unshare', ['-m', 'sh', '-c', mount, 'sh', ...command], { input: '' });
  return { code: await program.ended, ...program.written };
}

/** Requires that what only reads works, and what writes is refused, with nothing changed. */
async function expectReadable(data: string): Promise<void> {
  for (const args of [
    ['account', 'list'],
    ['audit', 'export'],
    ['audit', 'verify'],
    ['keys', 'list'],
    ['grant', 'list'],
  ]) {
    const { code, stdout, stderr } = await runReadOnly(data, ...args);
    expect([code, stderr], args.join(' ')).toEqual([0, '']);
    expect(stdout).not.toBe('');
  }
  expect((await runReadOnly(data, 'account', 'list')).stdout).toContain(ada.email);
  const target = join(testFolder(), 'backup');
  expect(await runReadOnly(data, 'backup', target)).toMatchObject({ code: 0 });
  expect((await runReadOnly(target, 'account', 'list')).stdout).toContain(ada.email);
  for (const args of [
    ['account', 'disable', ada.email],
    ['keys', 'rotate'],
  ])
    expect(await runReadOnly(data, ...args)).toMatchObject({
      code: 7,
      stderr: expect.stringContaining('mounted read-only: only what changes nothing can be done there'),
    });
  await expectNoStart(data);
}

/** Requires that a server does not start there, and says what to do. */
async function expectNoStart(data: string): Promise<void> {
  expect(await runReadOnly(data, 'serve', '--port', '0')).toMatchObject({
    code: 7,
    stderr: expect.stringContaining(
      'cannot be written. Its file system is mounted read-only, and a server needs one that is not: mount it for writing',
    ),
  });
}

describe.skipIf(!mayMount)('a data folder that is mounted read-only', () => {
  it('can be read by commands while a server has it open elsewhere, after it was closed, and as a crash left it', async () => {
    const data = join(testFolder(), 'data');
    const { program } = await startServer(serveCommand(data));
    onTestFinished(() => program.stop());
    await expectReadable(data);
    const crashed = join(testFolder(), 'crashed');
    mkdirSync(crashed);
    for (const name of ['gatehouse.db', 'gatehouse.db-wal', 'gatehouse.keys.json'])
      copyFileSync(join(data, name), join(crashed, name));
    await program.stop();
    expect(readdirSync(data).sort()).toEqual(['gatehouse.db', 'gatehouse.keys.json']);
    await expectReadable(data);
    await expectReadable(crashed);
  }, 120_000);

  it('is no place for a server where it is empty, either', () => expectNoStart(testFolder()));
});
