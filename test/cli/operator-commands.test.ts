import { spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { exitCodes } from '../../src/cli/exit-codes.ts';
import { repository, runProgram } from '../support/program.ts';
import { commandLine } from '../support/served.ts';
import { newInstallation, withInstallation } from './support/installation.ts';

const isRoot = process.getuid?.() === 0;
const nobody = 65_534;

/** Root without its powers: it owns this checkout, wherever that lies, and has no right to what is another's. */
const powerless = ['setpriv', '--bounding-set', '-all', '--inh-caps', '-all', '--no-new-privs'];

/** Runs a command as a user who has no right to the folder. */
async function runAsStranger(folder: string, args: readonly string[]) {
  if (isRoot) chownSync(folder, nobody, nobody);
  else chmodSync(folder, 0);
  onTestFinished(() => chmodSync(folder, 0o700));
  const [program = '', ...before] = [...(isRoot ? powerless : []), process.execPath];
  const child = spawn(program, [...before, commandLine, ...args, '--data', folder], { cwd: repository });
  child.stdin.end('correct horse battery');
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, stderr };
}

describe('a command of the operator', () => {
  it.skipIf(process.platform === 'win32')(
    'run by another user is refused, and says why (T-192)',
    async () => {
      const folder = await newInstallation();
      const listed = await runAsStranger(folder, ['account', 'list']);
      expect(listed.code, listed.stderr).toBe(exitCodes.cannotServe);
      expect(listed.stderr).toContain('This user cannot enter the data folder.');
      const added = await runAsStranger(folder, ['account', 'add', 'eve@example.com', '--password-stdin']);
      expect(added.code, added.stderr).toBe(exitCodes.cannotServe);
      const looked = await runAsStranger(folder, ['check-config']);
      expect(looked, looked.stderr).toMatchObject({ code: exitCodes.cannotServe });
      expect(looked.stderr).toContain('The database cannot be read (EACCES). Run this as the user');
      const served = await runAsStranger(folder, ['stdio']);
      expect(served, served.stderr).toMatchObject({ code: exitCodes.cannotServe });
      expect(served.stderr).toContain('This user cannot enter the data folder.');
      if (!isRoot) chmodSync(folder, 0o700);
      expect(await withInstallation(folder, ({ storage }) => storage.accounts.list())).toHaveLength(1);
    },
  );

  it('killed at any moment leaves its work done or not begun, and a database that opens (T-192)', async () => {
    const folder = await newInstallation();
    for (const [number, delayMs] of [0, 60].entries()) {
      const email = `killed-${number}@example.com`;
      const args = ['account', 'add', email, '--password-stdin', '--data', folder];
      const adding = runProgram(commandLine, args, { input: 'correct horse battery' });
      let isOver = false;
      void adding.ended.then(() => {
        isOver = true;
      });
      while (!isOver && !existsSync(join(folder, 'gatehouse.db-wal'))) await wait(1);
      await wait(delayMs);
      adding.process.kill('SIGKILL');
      await adding.ended;

      const again = runProgram(commandLine, args, { input: 'correct horse battery' });
      const code = await again.ended;
      const wasDone = /There is an account/.test(again.written.stderr);
      expect(wasDone || code === exitCodes.ok, again.written.stderr).toBe(true);
      const accounts = await withInstallation(folder, ({ storage }) => storage.accounts.list());
      expect(accounts.filter((account) => account.email === email)).toHaveLength(1);
    }
  });
});
