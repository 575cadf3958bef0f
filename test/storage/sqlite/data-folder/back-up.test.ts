import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { KeyFileFault } from '../../../../src/crypto/key-file.ts';
import {
  backUpDataFolder,
  readBackupTime,
  writeBackupTime,
} from '../../../../src/storage/sqlite/data-folder/back-up.ts';
import { openDataFolder } from '../../../../src/storage/sqlite/index.ts';
import { StorageFault } from '../../../../src/storage/storage.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { earlierDataFolder } from '../earlier-database.ts';

/** A data folder that a server has open and writes to. */
async function openWritten(notes: number) {
  const root = testFolder();
  const data = join(root, 'data');
  const { storage } = await openDataFolder(data);
  await storage.accounts.add({ id: 'ann', email: 'ann@example.com', passwordHash: 'x', createdAt: 1 });
  for (let count = 0; count < notes; count++) await storage.notes.add('ann', `note ${count}`, count);
  return { root, data, storage };
}

function countNotes(folder: string): number {
  const db = new Database(join(folder, 'gatehouse.db'), { readonly: true });
  try {
    return db.prepare<[], number>('SELECT count(*) FROM notes').pluck().get() ?? 0;
  } finally {
    db.close();
  }
}

describe('a backup', () => {
  it('holds all that was acknowledged, also what only stands in the log yet, and the keys, for its owner alone (T-173)', async () => {
    const { root, data, storage } = await openWritten(50);
    const backup = backUpDataFolder(data, join(root, 'backup'), true);
    await storage.notes.add('ann', 'after the backup', 99);
    expect(countNotes(backup.folder)).toBe(50);
    expect(readdirSync(backup.folder).sort()).toEqual(['backup.json', 'gatehouse.db', 'gatehouse.keys.json']);
    expect(readFileSync(join(backup.folder, 'gatehouse.keys.json'))).toEqual(
      readFileSync(join(data, 'gatehouse.keys.json')),
    );
    expect(statSync(backup.folder).mode & 0o777).toBe(0o700);
    for (const file of readdirSync(backup.folder))
      expect(statSync(join(backup.folder, file)).mode & 0o777).toBe(0o600);
    await storage.close();
  });

  it('holds what a plain copy of the database file would miss (T-173)', async () => {
    const { root, data, storage } = await openWritten(50);
    const copied = join(root, 'copied.db');
    writeFileSync(copied, readFileSync(join(data, 'gatehouse.db')));
    const copy = new Database(copied);
    const tables = copy.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'notes'").pluck().get();
    copy.close();
    expect(tables).toBe(0);
    expect(countNotes(backUpDataFolder(data, join(root, 'backup'), true).folder)).toBe(50);
    await storage.close();
  });

  it('leaves the keys out where that is asked for', async () => {
    const { root, data, storage } = await openWritten(1);
    const backup = backUpDataFolder(data, join(root, 'backup'), false);
    expect(readdirSync(backup.folder).sort()).toEqual(['backup.json', 'gatehouse.db']);
    await storage.close();
  });

  it('never takes the place of anything, and leaves nothing behind where it fails', async () => {
    const { root, data, storage } = await openWritten(1);
    expect(() => backUpDataFolder(data, data, true)).toThrow(StorageFault);
    expect(() => backUpDataFolder(data, join(root, 'missing', 'backup'), true)).toThrow(/folder above/);
    await storage.close();
    rmSync(join(data, 'gatehouse.keys.json'));
    expect(() => backUpDataFolder(data, join(root, 'backup'), true)).toThrow(/There is no backup/);
    expect(existsSync(join(root, 'backup'))).toBe(false);
    expect(readdirSync(root)).toEqual(['data']);
  });

  it('is none where the keys are damaged or of another database, but for the database alone (T-179)', async () => {
    const { root, data, storage } = await openWritten(1);
    const keys = join(data, 'gatehouse.keys.json');
    const other = join(root, 'other');
    await (await openDataFolder(other)).storage.close();
    const backUp = () => backUpDataFolder(data, join(root, 'backup'), true);
    copyFileSync(join(other, 'gatehouse.keys.json'), keys);
    expect(backUp).toThrow(/belongs to another database.* No backup was written; --no-keys/);
    writeFileSync(keys, 'garbage');
    expect(backUp).toThrow(KeyFileFault);
    expect(backUp).toThrow(/^The key file is damaged.* No backup was written/);
    expect(readdirSync(root).sort()).toEqual(['data', 'other']);
    expect(countNotes(backUpDataFolder(data, join(root, 'alone'), false).folder)).toBe(1);
    await storage.close();
  });

  it('of a database of an earlier version is made with its keys', async () => {
    const data = await earlierDataFolder();
    const { folder } = backUpDataFolder(data, join(testFolder(), 'backup'), true);
    expect(readdirSync(folder).sort()).toEqual(['backup.json', 'gatehouse.db', 'gatehouse.keys.json']);
  });
});

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
