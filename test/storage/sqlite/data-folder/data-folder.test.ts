import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { KeySchedule } from '../../../../src/crypto/key-schedule.ts';
import { type DataFolder, KeyFileFault, openDataFolder } from '../../../../src/storage/sqlite/index.ts';
import { StorageFault } from '../../../../src/storage/storage.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { account } from '../../contract/subject.ts';

async function openForTest(folder: string): Promise<DataFolder> {
  const data = await openDataFolder(folder);
  onTestFinished(() => data.storage.close());
  return data;
}

const mode = (file: string): number => statSync(file).mode & 0o777;

describe('a data folder', () => {
  it('is made with its parents, for its owner alone, with a database and keys (T-163, T-168)', async () => {
    const folder = join(testFolder(), 'var', 'gatehouse');
    const { keys } = await openForTest(folder);
    expect([
      mode(folder),
      mode(join(folder, 'gatehouse.db')),
      mode(join(folder, 'gatehouse.keys.json')),
    ]).toEqual([0o700, 0o600, 0o600]);
    expect([keys.sealing.length, keys.cookies.length, keys.signing.length]).toEqual([1, 1, 1]);
  });

  it('wants a path, in plain JavaScript too', async () => {
    const folder = undefined as unknown as string;
    await expect(openDataFolder(folder)).rejects.toThrow('openDataFolder takes the path of a folder');
  });

  it('gives the same keys and rows when it is opened again', async () => {
    const folder = testFolder();
    const first = await openDataFolder(folder);
    await first.storage.accounts.add(account('ada'));
    await first.storage.close();
    const second = await openForTest(folder);
    expect(second.keys).toEqual(first.keys);
    expect(await second.storage.accounts.list()).toHaveLength(1);
  });

  it('opened several times at once is one installation', async () => {
    const folder = testFolder();
    const opened = await Promise.all(Array.from({ length: 4 }, () => openForTest(folder)));
    expect(new Set(opened.map(({ keys }) => JSON.stringify(keys))).size).toBe(1);
    await opened[0]?.storage.accounts.add(account('ada'));
    for (const { storage } of opened) expect(await storage.accounts.list()).toHaveLength(1);
  });

  it('with a database and no key file is refused: new keys would not open what it holds', async () => {
    const folder = testFolder();
    await (await openDataFolder(folder)).storage.close();
    rmSync(join(folder, 'gatehouse.keys.json'));
    await expect(openDataFolder(folder)).rejects.toThrow(KeyFileFault);
    await expect(openDataFolder(folder)).rejects.toThrow(/Put the key file back beside it/);
    expect(existsSync(join(folder, 'gatehouse.keys.json'))).toBe(false);
  });

  it.each(['deleted', 'emptied'])(
    'whose database was %s beside its keys tells that it begins anew (T-172)',
    async (how) => {
      const folder = testFolder();
      const database = join(folder, 'gatehouse.db');
      const madeAt = Math.floor(Date.now() / 1000);
      let now = madeAt;
      const told: number[] = [];
      const open = async (): Promise<void> => {
        const { storage } = await openDataFolder(folder, {
          now: () => now,
          onDatabaseMissing: (keysFrom) => told.push(keysFrom),
        });
        await storage.close();
      };
      await open();
      now += 86_400;
      await open();
      expect(told).toEqual([]);
      if (how === 'deleted') rmSync(database);
      else writeFileSync(database, '');
      await open();
      await open();
      expect(told).toEqual([madeAt]);
    },
  );

  it('that lost its database tells so before a new one is made: that may fail, and leave one (T-172)', async () => {
    const folder = testFolder();
    await (await openDataFolder(folder)).storage.close();
    rmSync(join(folder, 'gatehouse.db'));
    const now = (): number => Math.floor(Date.now() / 1000) + 86_400;
    const onDatabaseMissing = (): never => {
      throw new Error('told');
    };
    await expect(openDataFolder(folder, { now, onDatabaseMissing })).rejects.toThrow('told');
    expect(existsSync(join(folder, 'gatehouse.db'))).toBe(false);
  });

  it('that a first start left with keys alone tells nothing', async () => {
    const folder = testFolder();
    await (await openDataFolder(folder)).storage.close();
    rmSync(join(folder, 'gatehouse.db'));
    const told: number[] = [];
    const { storage } = await openDataFolder(folder, {
      onDatabaseMissing: (keysFrom) => told.push(keysFrom),
    });
    await storage.close();
    expect(told).toEqual([]);
  });

  it('whose keys others can read is refused, and the message says how to close them (T-163)', async () => {
    const folder = testFolder();
    await (await openDataFolder(folder)).storage.close();
    const file = join(folder, 'gatehouse.keys.json');
    for (const open of [0o644, 0o640, 0o604, 0o660]) {
      chmodSync(file, open);
      const refusal = await openDataFolder(folder).catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(KeyFileFault);
      expect(String(refusal)).toContain(`chmod 600 ${JSON.stringify(file)}`);
      const { cookies } = JSON.parse(readFileSync(file, 'utf8')) as KeySchedule;
      expect(String(refusal)).not.toContain(cookies[0]?.key);
    }
  });

  it.each(['a file', 'below a file'])('that is %s is refused with what to do', async (what) => {
    const file = join(testFolder(), 'file');
    writeFileSync(file, '');
    const refusal = openDataFolder(what === 'a file' ? file : join(file, 'data'));
    await expect(refusal).rejects.toThrow(StorageFault);
    await expect(refusal).rejects.toThrow(/The data folder \/.*file.* cannot be written\. .*--data/);
  });

  it('in a place that takes no folders is refused at once', async () => {
    const refusal = openDataFolder('/proc/gatehouse-data');
    await expect(refusal).rejects.toThrow(/The data folder \/proc\/gatehouse-data cannot be written.*--data/);
  });
});
