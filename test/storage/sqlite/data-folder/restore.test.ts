import {
  closeSync,
  copyFileSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { KeyFileFault } from '../../../../src/crypto/key-file.ts';
import type { AuditEntry } from '../../../../src/storage/audit.ts';
import { openDatabase } from '../../../../src/storage/sqlite/connection/open.ts';
import { backUpDataFolder } from '../../../../src/storage/sqlite/data-folder/back-up.ts';
import { requireNotInUse, restoreDataFolder } from '../../../../src/storage/sqlite/data-folder/restore.ts';
import { openDataFolder } from '../../../../src/storage/sqlite/index.ts';
import { StorageFault } from '../../../../src/storage/storage.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { runProgram } from '../../../support/program.ts';

const put = {
  type: 'put',
  kind: 'RefreshToken',
  id: 't',
  payload: Buffer.from('x'),
  expiresAt: 9_999_999_999,
} as const;
const stamp = '2026-01-02';

/** An installation with an account and a token, and its backup. */
async function backedUp(events: AuditEntry[] = []) {
  const root = testFolder();
  const data = join(root, 'data');
  const { storage } = await openDataFolder(data);
  await storage.accounts.add({ id: 'ann', email: 'ann@example.com', passwordHash: 'x', createdAt: 1 });
  await storage.artifacts.commit([put]);
  await storage.audit.append(events);
  const backup = backUpDataFolder(data, join(root, 'backup'), true).folder;
  return { root, data, storage, backup, options: { backup, data, replace: false, keepLogins: false, stamp } };
}

/** What stands in a data folder. */
async function look(data: string) {
  const { storage } = await openDataFolder(data);
  try {
    const accounts = (await storage.accounts.list()).map(({ id }) => id);
    return { accounts, token: (await storage.artifacts.find('RefreshToken', 't')) !== undefined };
  } finally {
    await storage.close();
  }
}

describe('a backup that is put back', () => {
  it('into a new folder holds the accounts, and nothing that was issued (T-173)', async () => {
    const { root, storage, options } = await backedUp();
    await storage.close();
    const data = join(root, 'new');
    expect(await restoreDataFolder({ ...options, data })).toEqual({ asOf: expect.any(Number) });
    expect(await look(data)).toEqual({ accounts: ['ann'], token: false });
  });

  it.each([
    { left: 'no file', empty: false, name: `gatehouse.db.before-${stamp}-wal` },
    { left: 'an empty file', empty: true, name: `gatehouse.db.before-${stamp}` },
  ])(
    'puts the log of a lost database aside, of which $left is left, and takes nothing from it (T-172)',
    async ({ empty, name }) => {
      const { data, storage, options } = await backedUp();
      await storage.accounts.add({ id: 'bob', email: 'bob@example.com', passwordHash: 'x', createdAt: 2 });
      const log = readFileSync(join(data, 'gatehouse.db-wal'));
      expect(log.length).toBeGreaterThan(0);
      await storage.close();
      rmSync(join(data, 'gatehouse.db'));
      if (empty) writeFileSync(join(data, 'gatehouse.db'), '');
      writeFileSync(join(data, 'gatehouse.db-wal'), log);

      await expect(restoreDataFolder(options)).rejects.toThrow('There is the log of a database');
      expect(readFileSync(join(data, 'gatehouse.db-wal')).equals(log)).toBe(true);
      const restored = await restoreDataFolder({ ...options, replace: true });
      expect(restored).toMatchObject({ putAside: join(data, name), restoredRevocations: 'unreadable' });
      expect(readFileSync(join(data, `gatehouse.db.before-${stamp}-wal`)).equals(log)).toBe(true);
      expect(await look(data)).toEqual({ accounts: ['ann'], token: false });
    },
  );

  it('is as old as it says, however long before the last event was, unless that came later (T-173)', async () => {
    const { root, backup, storage, options } = await backedUp([
      { at: 1000, event: 'login.succeeded', details: {} },
    ]);
    await storage.close();
    let count = 0;
    const asOf = async () =>
      (await restoreDataFolder({ ...options, data: join(root, `new${++count}`) })).asOf;
    const note = (takenAt: string) => writeFileSync(join(backup, 'backup.json'), JSON.stringify({ takenAt }));
    const now = Date.now() / 1000;
    expect(await asOf()).toBeGreaterThan(now - 60);
    note('2020-01-01T00:00:00Z');
    expect(await asOf()).toBe(1_577_836_800);
    note('1970-01-01T00:00:01Z');
    expect(await asOf()).toBe(1000);
    rmSync(join(backup, 'backup.json'));
    expect(await asOf()).toBe(1000);
  });

  it('keeps what was issued where the operator says that nothing happened since', async () => {
    const { root, storage, options } = await backedUp();
    await storage.close();
    const data = join(root, 'new');
    await restoreDataFolder({ ...options, data, keepLogins: true });
    expect(await look(data)).toEqual({ accounts: ['ann'], token: true });
  });

  it('takes no place that is taken, unless it is told to, and then puts aside what was there', async () => {
    const { data, storage, options } = await backedUp();
    await storage.accounts.add({ id: 'bob', email: 'bob@example.com', passwordHash: 'x', createdAt: 1 });
    await storage.close();
    await expect(restoreDataFolder(options)).rejects.toThrow(/--replace/);
    expect((await look(data)).accounts).toEqual(['ann', 'bob']);
    const { putAside } = await restoreDataFolder({ ...options, replace: true });
    expect(putAside).toBe(join(data, `gatehouse.db.before-${stamp}`));
    expect((await look(data)).accounts).toEqual(['ann']);
    expect(readdirSync(data)).toContain(`gatehouse.keys.json.before-${stamp}`);
  });

  it('leaves a database alone that a process has open', async () => {
    const { data, storage, options } = await backedUp();
    await expect(restoreDataFolder({ ...options, replace: true })).rejects.toThrow(/Stop the server first/);
    expect(await storage.accounts.find('ann')).toBeDefined();
    await storage.close();
    expect(readdirSync(data).filter((name) => name.includes('before'))).toEqual([]);
  });

  it.each([
    ['cut off', (file: string) => truncateSync(file, 50_000)],
    ['no database any more', (file: string) => writeFileSync(file, 'hello\n')],
  ])('takes the place of a database that is %s, which is put aside as it was', async (_how, damage) => {
    const { data, storage, options } = await backedUp();
    await storage.close();
    damage(join(data, 'gatehouse.db'));
    const damaged = readFileSync(join(data, 'gatehouse.db'));
    const restored = await restoreDataFolder({ ...options, replace: true });
    expect(restored).toEqual({
      putAside: join(data, `gatehouse.db.before-${stamp}`),
      asOf: expect.any(Number),
      restoredRevocations: 'unreadable',
    });
    expect(readFileSync(join(data, `gatehouse.db.before-${stamp}`))).toEqual(damaged);
    expect((await look(data)).accounts).toEqual(['ann']);
  });

  it('leaves a database alone that a process has open, also where it is cut off', async () => {
    const { data, storage, options } = await backedUp();
    truncateSync(join(data, 'gatehouse.db'), 50_000);
    await expect(restoreDataFolder({ ...options, replace: true })).rejects.toThrow(/Stop the server first/);
    await storage.close().catch(() => undefined);
  });

  it('that is damaged, empty or of other keys changes nothing', async () => {
    const { root, data, backup, storage, options } = await backedUp();
    await storage.close();
    const database = readFileSync(join(data, 'gatehouse.db'));
    const other = join(root, 'other');
    await (await openDataFolder(other)).storage.close();

    copyFileSync(join(other, 'gatehouse.keys.json'), join(backup, 'gatehouse.keys.json'));
    await expect(restoreDataFolder({ ...options, replace: true })).rejects.toThrow(/another database/);
    copyFileSync(join(data, 'gatehouse.keys.json'), join(backup, 'gatehouse.keys.json'));
    truncateSync(join(backup, 'gatehouse.db'), 8192);
    await expect(restoreDataFolder({ ...options, replace: true })).rejects.toThrow(/damaged/);
    rmSync(join(backup, 'gatehouse.db'));
    await expect(restoreDataFolder({ ...options, replace: true })).rejects.toThrow(/There is no backup/);

    expect(readFileSync(join(data, 'gatehouse.db'))).toEqual(database);
    expect(readdirSync(data).sort()).toEqual(['gatehouse.db', 'gatehouse.keys.json']);
  });

  it('without keys is opened with those of the data folder', async () => {
    const { data, backup, storage, options } = await backedUp();
    await storage.close();
    rmSync(join(backup, 'gatehouse.keys.json'));
    await restoreDataFolder({ ...options, replace: true });
    expect((await look(data)).accounts).toEqual(['ann']);
  });

  it('leaves no folder behind where it fails, and says of a file in its place what to do', async () => {
    const { root, backup, storage, options } = await backedUp();
    await storage.close();
    truncateSync(join(backup, 'gatehouse.db'), 8192);
    const data = join(root, 'new', 'data');
    await expect(restoreDataFolder({ ...options, data })).rejects.toThrow(/damaged/);
    rmSync(join(backup, 'gatehouse.keys.json'));
    await expect(restoreDataFolder({ ...options, data })).rejects.toThrow(KeyFileFault);
    expect(readdirSync(root).sort()).toEqual(['backup', 'data']);
    const file = join(root, 'file');
    writeFileSync(file, 'hello');
    const refusal = restoreDataFolder({ ...options, data: file });
    await expect(refusal).rejects.toThrow(StorageFault);
    await expect(refusal).rejects.toThrow(`The data folder ${file} cannot be written.`);
  });
});

function overwrite(file: string, position: number, length: number): void {
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, Buffer.alloc(length, 'A'), 0, length, position);
  closeSync(descriptor);
}

const damages: [string, (file: string) => void][] = [
  ['sound', () => undefined],
  ['without its header', (file) => overwrite(file, 0, 100)],
  ['without its first page', (file) => overwrite(file, 0, 4096)],
  ['damaged behind its header', (file) => overwrite(file, 100, 3996)],
  ['cut off in its first page', (file) => truncateSync(file, 1000)],
  ['other text', (file) => writeFileSync(file, 'hello\n')],
];

describe.each(damages)('a database that is %s', (_how, damage) => {
  it('is in use while another process has it open, and is left as it is', async () => {
    const file = join(testFolder(), 'gatehouse.db');
    openDatabase(file).close();
    const server = runProgram('test/storage/sqlite/open-and-hold.ts', [file, 'as it is now', '60000']);
    onTestFinished(() => server.stop());
    await server.waitFor('stdout', /open/);
    damage(file);
    const before = readFileSync(file);
    expect(() => requireNotInUse(file)).toThrow(/in use\. Stop the server first; nothing was changed/);
    server.process.kill('SIGKILL');
    await server.ended;
    requireNotInUse(file);
    expect(readFileSync(file)).toEqual(before);
    expect(readdirSync(dirname(file)).filter((name) => !/^gatehouse\.db(-wal|-shm)?$/.test(name))).toEqual(
      [],
    );
  });
});
