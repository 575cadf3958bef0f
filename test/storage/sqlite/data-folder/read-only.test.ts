// The file system that is mounted read-only stands in test/flows/faults/read-only.test.ts.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it, vi } from 'vitest';
import { isMountedReadOnly, openReadOnly } from '../../../../src/storage/sqlite/data-folder/read-only.ts';
import { openDataFolder } from '../../../../src/storage/sqlite/index.ts';
import { StorageFault } from '../../../../src/storage/storage.ts';
import { testFolder } from '../../../client/support/folder.ts';

const ann = { id: 'ann', email: 'ann@example.com', passwordHash: 'x', createdAt: 1 };

let room: string;

const copies = (): string[] => readdirSync(room).filter((name) => name.startsWith('gatehouse-read-'));

beforeEach(() => {
  room = testFolder();
  vi.stubEnv('TMPDIR', room);
  return () => vi.unstubAllEnvs();
});

it('what is opened to be read is as it is now, takes no write, and leaves nothing behind', async () => {
  const data = join(testFolder(), 'data');
  const { storage } = await openDataFolder(data);
  await storage.accounts.add(ann);
  // In the index of the log readers mark how far they read.
  const kept = ['gatehouse.db', 'gatehouse.db-wal', 'gatehouse.keys.json'];
  const files = (): unknown[] => [readdirSync(data), kept.map((name) => readFileSync(join(data, name)))];
  const before = files();

  const opened = await openReadOnly(data);
  expect(copies()).toHaveLength(1);
  expect((await opened.storage.accounts.list()).map(({ id }) => id)).toEqual(['ann']);
  const refusal = /mounted read-only: only what changes nothing/;
  await expect(opened.storage.accounts.add({ ...ann, id: 'bob' })).rejects.toThrow(refusal);
  await expect(opened.storage.audit.append([{ at: 1, event: 'x', details: {} }])).rejects.toThrow(
    StorageFault,
  );
  await expect(opened.keyRing.rotate('cookies')).rejects.toThrow(refusal);
  await opened.storage.close();

  expect([files(), copies()]).toEqual([before, []]);
  await storage.close();
});

it('a folder that can be written, or is not there, is not taken for one that is mounted read-only', () => {
  const folder = testFolder();
  expect(isMountedReadOnly(folder)).toBe(false);
  expect(isMountedReadOnly(join(folder, 'none'))).toBe(false);
});

it('keys that are not there, or no room for a copy, are told, and no copy stays', async () => {
  await expect(openReadOnly(testFolder())).rejects.toThrow(/key/i);
  expect(copies()).toEqual([]);
  const data = testFolder();
  vi.stubEnv('TMPDIR', join(room, 'none'));
  await expect(openReadOnly(data)).rejects.toThrow(/Name another folder with TMPDIR/);
});
