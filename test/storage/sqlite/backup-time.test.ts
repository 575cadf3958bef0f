import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readBackupTime, writeBackupTime } from '../../../src/storage/sqlite/backup-time.ts';
import { testFolder } from '../../client/support/folder.ts';

it('the time of a backup stands in it, for its owner alone', () => {
  const backup = testFolder();
  writeBackupTime(backup, 1_700_000_000);
  expect(readBackupTime(backup)).toBe(1_700_000_000);
  expect(statSync(join(backup, 'backup.json')).mode & 0o777).toBe(0o600);
});

it.each(['', 'null', '[]', '{"takenAt":1}', '{"takenAt":"yesterday"}'])(
  'a backup that has %j there does not tell its time, nor does one without it',
  (text) => {
    const backup = testFolder();
    expect(readBackupTime(backup)).toBeUndefined();
    writeFileSync(join(backup, 'backup.json'), text);
    expect(readBackupTime(backup)).toBeUndefined();
  },
);
