import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { registerBackup, registerRestore } from '../../../../src/cli/commands/operator/backup.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { earlierDataFolder } from '../../../storage/sqlite/earlier-database.ts';
import { newInstallation, operate, withInstallation } from '../../support/installation.ts';
import { runCommand } from '../../support/operator.ts';

/** A backup of an installation with one account. */
async function backUp(): Promise<{ data: string; backup: string }> {
  const data = await newInstallation();
  const backup = join(testFolder(), 'backup');
  await runCommand(registerBackup, ['backup', backup, '--data', data]);
  return { data, backup };
}

describe('gatehouse restore', () => {
  it('brings the accounts into a new data folder, and says that everybody logs in again', async () => {
    const { backup } = await backUp();
    const data = join(testFolder(), 'new');
    const { stdout } = await runCommand(registerRestore, ['restore', backup, '--data', data]);
    expect(stdout).toBe(
      `Restored into ${data}.\nAll consents, tokens and logins have ended: everybody logs in again.\n`,
    );
    expect((await operate(['account', 'list', '--data', data])).stdout).toContain('ada@example.com');
  });

  it('of a folder that is none says so, whatever the data folder is like, and makes nothing', async () => {
    const nowhere = join(testFolder(), 'nowhere');
    const data = join(testFolder(), 'new');
    const { error } = await runCommand(registerRestore, ['restore', nowhere, '--data', data]);
    expect(String(error)).toContain(`There is no backup in ${nowhere}: it has no gatehouse.db.`);
    expect(existsSync(data)).toBe(false);
  });

  it('leaves who was shut out since shut out, says so, and stands in the audit log', async () => {
    const { data, backup } = await backUp();
    await operate(['account', 'disable', 'ada@example.com', '--data', data]);
    const { stdout } = await runCommand(registerRestore, ['restore', backup, '--data', data, '--replace']);
    expect(stdout).toContain('Accounts that stay disabled: ada@example.com.\n');
    expect((await operate(['account', 'list', '--data', data])).stdout).toMatch(/ada@example\.com.*disabled/);
    const { rows, verdict } = await withInstallation(data, async ({ storage, administration }) => ({
      rows: await storage.audit.read({ limit: 1, newestFirst: true }),
      verdict: await administration.audit.verify(),
    }));
    expect(rows[0]).toMatchObject({ event: 'installation.restored' });
    expect(JSON.parse(rows[0]?.details ?? '')).toEqual({
      operator: expect.any(String),
      asOf: expect.stringMatching(/^\d{4}-/),
      keptLogins: 'false',
    });
    expect(verdict.faults).toEqual([]);
  });

  it('says where it put what was there, as JSON too', async () => {
    const { data, backup } = await backUp();
    const refused = await runCommand(registerRestore, ['restore', backup, '--data', data]);
    expect(String(refused.error)).toMatch(/--replace/);
    const args = ['restore', backup, '--data', data, '--replace', '--keep-logins', '--json'];
    const { stdout } = await runCommand(registerRestore, args);
    expect(JSON.parse(stdout)).toEqual({
      data,
      keptLogins: true,
      asOf: expect.any(Number),
      restoredRevocations: expect.objectContaining({ disabledAccounts: [] }),
      putAside: expect.stringMatching(/gatehouse\.db\.before-\d{4}-\d\d-\d\dT/),
    });
  });

  it('says that a backup of an earlier version has to be brought up (T-174)', async () => {
    const args = ['restore', await earlierDataFolder(), '--data', join(testFolder(), 'data')];
    const { stderr, error } = await runCommand(registerRestore, args);
    expect(stderr).toMatch(
      /^The database is of an earlier version\. It has to be brought from schema 11 to \d+,.*\n$/,
    );
    expect(error).toBeUndefined();
  });
});
