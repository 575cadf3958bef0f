import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { generateKeySet, type KeySet } from '../../../../src/crypto/key-schedule.ts';
import { createSealedBox } from '../../../../src/crypto/sealed-box.ts';
import { openDatabase } from '../../../../src/storage/sqlite/connection/open.ts';
import { checkInstallation } from '../../../../src/storage/sqlite/data-folder/installation.ts';
import { KeyFileFault, openDataFolder } from '../../../../src/storage/sqlite/index.ts';
import { testFolder } from '../../../client/support/folder.ts';

function openEmpty() {
  const db = openDatabase(join(testFolder(), 'gatehouse.db'));
  onTestFinished(() => void db.close());
  return db;
}

/** A database as it was before it had a canary, with one client sealed under `keys`. */
function databaseOf(keys: KeySet) {
  const db = openEmpty();
  const payload = createSealedBox(keys.sealing).seal('{}', 'Client:1');
  db.prepare("INSERT INTO clients (id, payload, created_at) VALUES ('1', ?, 0)").run(payload);
  return db;
}

describe('database and key file', () => {
  it('of two installations are refused together, with what to do, and nothing is changed (T-179)', async () => {
    const folders = ['one', 'two', 'mixed'].map((name) => join(testFolder(), name));
    for (const folder of folders) mkdirSync(folder);
    const [one = '', two = '', mixed = ''] = folders;
    for (const folder of [one, two]) await (await openDataFolder(folder)).storage.close();
    copyFileSync(join(one, 'gatehouse.db'), join(mixed, 'gatehouse.db'));
    copyFileSync(join(two, 'gatehouse.keys.json'), join(mixed, 'gatehouse.keys.json'));
    for (const _attempt of [1, 2]) {
      const refusal = openDataFolder(mixed);
      await expect(refusal).rejects.toThrow(KeyFileFault);
      await expect(refusal).rejects.toThrow(
        /belongs to another database\. Put the key file .* of one backup/,
      );
    }
    copyFileSync(join(one, 'gatehouse.keys.json'), join(mixed, 'gatehouse.keys.json'));
    await (await openDataFolder(mixed)).storage.close();
  });

  it('belong together for good once they were used together, new keys in front included', async () => {
    const db = openEmpty();
    const [keys, other] = [await generateKeySet(), await generateKeySet()];
    checkInstallation(db, keys);
    expect(() => checkInstallation(db, keys)).not.toThrow();
    const rotated = { ...keys, sealing: [...other.sealing, ...keys.sealing] };
    expect(() => checkInstallation(db, rotated)).not.toThrow();
    expect(() => checkInstallation(db, other)).toThrow(KeyFileFault);
  });

  it('are told apart where the name of the key is the same', async () => {
    const db = openEmpty();
    const [keys, other] = [await generateKeySet(), await generateKeySet()];
    checkInstallation(db, keys);
    const id = keys.sealing[0]?.id ?? '';
    const renamed = { ...other, sealing: other.sealing.map(({ key }) => ({ id, key })) };
    expect(() => checkInstallation(db, renamed)).toThrow(KeyFileFault);
  });

  it('from before this check are joined where the keys open a row, and refused where they do not (T-179)', async () => {
    const [keys, other] = [await generateKeySet(), await generateKeySet()];
    const db = databaseOf(keys);
    expect(() => checkInstallation(db, other)).toThrow(KeyFileFault);
    expect(() => checkInstallation(db, keys)).not.toThrow();
    db.prepare('DELETE FROM clients').run();
    expect(() => checkInstallation(db, other)).toThrow(KeyFileFault);
    expect(() => checkInstallation(db, keys)).not.toThrow();
  });
});
