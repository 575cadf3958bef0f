import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { copiedTables } from '../../../src/storage/copied-tables.ts';
import {
  backUpDataFolder,
  inspectDataFolder,
  openCopySource,
  openCopyTarget,
  openDataFolder,
  restoreDataFolder,
} from '../../../src/storage/sqlite/index.ts';
import { testFolder } from '../../client/support/folder.ts';
import { fillInstallation, withDatabase } from '../filled-installation.ts';

async function filled(): Promise<string> {
  const folder = join(testFolder(), 'data');
  await fillInstallation(folder);
  return folder;
}

/** Marks an installation as moved. */
async function move(folder: string): Promise<void> {
  const source = openCopySource(folder);
  await source.markMoved('another place');
  await source.commit();
  await source.close();
}

describe('a data folder that is copied', () => {
  it('must not be in use, and can be opened by nobody else meanwhile', async () => {
    const folder = await filled();
    const { storage } = await openDataFolder(folder);
    expect(() => openCopySource(folder)).toThrow('The database is in use. Stop the server first');
    await storage.close();
    const source = openCopySource(folder);
    expect(() => openCopySource(folder)).toThrow('The database is in use.');
    await source.close();
    await (await openDataFolder(folder)).storage.close();
  });

  it('must have a database, and keeps the log of one that is lost (T-172)', async () => {
    const folder = testFolder();
    expect(() => openCopySource(folder)).toThrow(`There is no Gatehouse database in ${folder}.`);
    writeFileSync(join(folder, 'gatehouse.db-wal'), 'log');
    expect(() => openCopySource(folder)).toThrow('The database is gone, but its log');
    expect(readdirSync(folder)).toEqual(['gatehouse.db-wal']);
  });

  it('is read in batches in the order of the key', async () => {
    const source = openCopySource(await filled());
    const accounts = copiedTables.find(({ name }) => name === 'accounts');
    if (!accounts) throw new Error('there is no table of accounts');
    const one = { ...accounts, batch: 1 };
    const [first] = await source.read(one, undefined);
    expect(first?.[0]).toBe('ada');
    const [second] = await source.read(one, first);
    expect(second?.[0]).toBe('ädä 🗝');
    expect(await source.read(one, second)).toEqual([]);
    await source.close();
  });

  it('is named by check-config as moved, and by a backup of it that is restored no more (T-173)', async () => {
    const folder = await filled();
    await move(folder);
    expect(await inspectDataFolder(folder)).toMatchObject({
      state: 'faulty',
      fault: expect.stringContaining('This installation has moved to another place.'),
    });
    const backup = join(testFolder(), 'backup');
    backUpDataFolder(folder, backup, true);
    const options = { backup, data: folder, replace: true, keepLogins: false, stamp: 'now' };
    await restoreDataFolder(options);
    expect(await inspectDataFolder(folder)).toMatchObject({ state: 'ready' });
  });

  it('is not marked if the copy is given up', async () => {
    const folder = await filled();
    const source = openCopySource(folder);
    await source.markMoved('another place');
    await source.close();
    await (await openDataFolder(folder)).storage.close();
  });
});

describe('a data folder that is copied to', () => {
  it('must not have an installation, nor a part of one', async () => {
    const folder = await filled();
    expect(() => openCopyTarget(folder)).toThrow(/^There is an installation in .*, or a part of one\./);
    for (const part of ['gatehouse.db', 'gatehouse.db-wal', 'gatehouse.keys.json']) {
      const other = testFolder();
      writeFileSync(join(other, part), 'something');
      expect(() => openCopyTarget(other)).toThrow('or a part of one');
      expect(readdirSync(other)).toEqual([part]);
    }
  });

  it('shows nothing until the copy is committed, and nothing is left if it is given up', async () => {
    const folder = join(testFolder(), 'above', 'data');
    const target = openCopyTarget(folder);
    expect(readdirSync(folder).some((name) => name === 'gatehouse.db')).toBe(false);
    await target.close();
    expect(() => statSync(join(folder, '..'))).toThrow('ENOENT');
    const kept = testFolder();
    writeFileSync(join(kept, 'gatehouse.json'), '{}');
    await openCopyTarget(kept).close();
    expect(readdirSync(kept)).toEqual(['gatehouse.json']);
  });

  it('has the schema of a new one afterwards, triggers included, in files that only their owner can read', async () => {
    const schema = (folder: string): unknown[] =>
      withDatabase(folder, (db) =>
        db
          .prepare("SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name")
          .all(),
      );
    const [folder, other] = [testFolder(), await filled()];
    const source = openCopySource(other);
    const target = openCopyTarget(folder);
    await target.writeKeys(await source.readKeys());
    await target.commit();
    await target.close();
    await source.close();
    expect(readdirSync(folder).sort()).toEqual(['gatehouse.db', 'gatehouse.keys.json']);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    expect(schema(folder)).toEqual(schema(other));
  });

  it('replaces no database that appeared meanwhile, and leaves no keys beside it', async () => {
    const [folder, other] = [testFolder(), await filled()];
    const source = openCopySource(other);
    const target = openCopyTarget(folder);
    await target.writeKeys(await source.readKeys());
    writeFileSync(join(folder, 'gatehouse.db'), 'of another');
    await expect(target.commit()).rejects.toThrow('EEXIST');
    await target.close();
    await source.close();
    expect(readdirSync(folder)).toEqual(['gatehouse.db']);
  });
});
