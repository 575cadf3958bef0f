import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { CliError, exitCodes } from '../../../../src/cli/cli-error.ts';
import { registerAudit } from '../../../../src/cli/commands/operator/audit.ts';
import { registerBackup, registerRestore } from '../../../../src/cli/commands/operator/backup.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { newInstallation, withInstallation } from '../../support/installation.ts';
import { runCommand } from '../../support/operator.ts';

async function happen(data: string, count: number): Promise<void> {
  const event = { at: 1_800_000_000, event: 'login.failed', details: { accountId: 'a1' } };
  await withInstallation(data, ({ storage }) => storage.audit.append(Array(count).fill(event)));
}

/** An installation with three events. */
async function withEvents(): Promise<string> {
  const data = await newInstallation();
  await happen(data, 2);
  return data;
}

const verify = (data: string, ...args: string[]) =>
  runCommand(registerAudit, ['audit', 'verify', ...args, '--data', data]);

async function headOf(data: string): Promise<string> {
  const { stdout } = await verify(data);
  return /Head: (\S+)/.exec(stdout)?.[1] ?? '';
}

describe('gatehouse audit verify', () => {
  it('says that the log is whole, with its head to keep, and takes the head again', async () => {
    const data = await withEvents();
    const { stdout, error } = await verify(data);
    expect([error, stdout]).toEqual([
      undefined,
      expect.stringMatching(/^Whole: 3 events\.\nHead: 3:[\w-]{43}\n/),
    ]);
    expect((await verify(data, '--head', await headOf(data))).error).toBeUndefined();
    expect((await verify(data, '--head', 'x')).error).toBeDefined();
  });

  it('finds what somebody changed in the database, and ends with an exit code of its own (T-197)', async () => {
    const data = await withEvents();
    const db = new Database(join(data, 'gatehouse.db'));
    db.exec("UPDATE audit SET details = '{}' WHERE seq = 2");
    db.close();
    const { stdout, error } = await verify(data);
    expect(stdout).toBe('Not whole:\nevent 2: changed\n');
    expect(error).toBeInstanceOf(CliError);
    expect((error as CliError).exitCode).toBe(exitCodes.faultsFound);
  });

  it('with a head beyond the end says where the log ends, and what that means (T-197)', async () => {
    const head = `9:${'x'.repeat(43)}`;
    const data = await withEvents();
    const { stdout, error } = await verify(data, '--head', head);
    const why = 'it was cut off, or put back from a backup that is older than the note.';
    expect(stdout).toBe(
      `Whole by itself, but not the log of that head:\nThe log ends at event 3, before the head that was noted: ${why}\n`,
    );
    expect(error).toMatchObject({
      exitCode: exitCodes.faultsFound,
      message: 'The audit log does not have the head that was noted.',
      hint: expect.stringContaining('no restore of a backup that would explain it'),
    });
    expect(JSON.parse((await verify(data, '--json', '--head', head)).stdout)).toMatchObject({
      isWhole: false,
      faults: [{ seq: 3, fault: 'ends_before_head' }],
    });
    const db = new Database(join(data, 'gatehouse.db'));
    db.exec('DELETE FROM audit');
    db.close();
    const emptied = await verify(data, '--head', head);
    expect(emptied.stdout).toBe(
      `Not whole:\nevent 1: cut off\nThe log is empty, without the head that was noted: ${why}\n`,
    );
    expect(emptied.error).toMatchObject({
      message: 'The audit log was changed by somebody who could write the database.',
    });
  });

  it('with another head of an event that is there says which, and accuses nobody', async () => {
    const { stdout, error } = await verify(await withEvents(), '--head', `2:${'x'.repeat(43)}`);
    expect(stdout).toMatch(/^Whole by itself, .*:\nEvent 2 is another one than the head that was noted: /);
    expect(error).toMatchObject({
      exitCode: exitCodes.faultsFound,
      message: 'The audit log does not have the head that was noted.',
    });
  });

  it.each([
    ['before it reaches that head again', 0, 'The log ends at event 4, before the head that was noted'],
    ['when it has grown past that head', 9, 'Event 7 is another one than the head that was noted'],
  ])(
    'with a head that was noted after the backup that was put back names the restore and says to note the head anew, %s',
    async (_when, since, line) => {
      const data = await withEvents();
      const backup = join(testFolder(), 'backup');
      await runCommand(registerBackup, ['backup', backup, '--data', data]);
      const early = await headOf(backup);
      await happen(data, 4);
      const head = await headOf(data);
      await runCommand(registerRestore, ['restore', backup, '--data', data, '--replace']);
      if (since > 0) await happen(data, since);

      const { stdout, error } = await verify(data, '--head', head);
      expect(stdout).toContain(line);
      expect(stdout).toMatch(/\nEvent \d, of \d{4}-\S+Z, is the restore of a backup of \d{4}-\S+Z: /);
      expect(error).toMatchObject({
        exitCode: exitCodes.faultsFound,
        message: 'The audit log does not have the head that was noted.',
        hint: expect.stringMatching(/noted before that restore, all is well: note .*gatehouse audit verify/),
      });
      const json = JSON.parse((await verify(data, '--json', '--head', head)).stdout);
      expect(json.restore).toMatchObject({ seq: expect.any(Number), asOf: expect.stringMatching(/^\d{4}-/) });
      expect((await verify(data, '--head', early)).error).toBeUndefined();
    },
  );

  it('names no restore that came after the event of the head', async () => {
    const data = await withEvents();
    const backup = join(testFolder(), 'backup');
    await runCommand(registerBackup, ['backup', backup, '--data', data]);
    await runCommand(registerRestore, ['restore', backup, '--data', data, '--replace']);
    const { stdout, error } = await verify(data, '--head', `2:${'x'.repeat(43)}`);
    expect(stdout).not.toContain('is the restore');
    expect((error as CliError).hint).toContain('no restore of a backup');
  });
});
