import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { registerBackup } from '../../../src/cli/commands/backup.ts';
import { registerRestore } from '../../../src/cli/commands/restore.ts';
import { testFolder } from '../../client/support/folder.ts';
import { newInstallation, operate } from '../support/installation.ts';
import { runCommand } from '../support/operator.ts';

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

  it('says where it put what was there, as JSON too', async () => {
    const { data, backup } = await backUp();
    const refused = await runCommand(registerRestore, ['restore', backup, '--data', data]);
    expect(String(refused.error)).toMatch(/--replace/);
    const args = ['restore', backup, '--data', data, '--replace', '--keep-logins', '--json'];
    const { stdout } = await runCommand(registerRestore, args);
    expect(JSON.parse(stdout)).toEqual({
      data,
      keptLogins: true,
      putAside: expect.stringMatching(/gatehouse\.db\.before-\d{4}-\d\d-\d\dT/),
    });
  });
});
