import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { adviseOnFolder, inspectDataFolder } from '../../../../src/storage/sqlite/data-folder/inspect.ts';
import { openDataFolder } from '../../../../src/storage/sqlite/index.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { mayMount } from '../../../flows/faults/support/faulty-machine.ts';
import { runProgram } from '../../../support/program.ts';
import { earlierDataFolder, schemas } from '../earlier-database.ts';

describe('a look at a data folder', () => {
  it('finds a new one new, and makes nothing in it', async () => {
    const folder = testFolder();
    expect(await inspectDataFolder(folder)).toEqual({ state: 'new' });
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each(['deleted', 'emptied'])(
    'finds one new whose database was %s, and when its keys were made where that is long ago (T-172)',
    async (how) => {
      const folder = testFolder();
      const made = Math.floor(Date.now() / 1000) - 86_400;
      for (const now of [undefined, () => made]) {
        for (const name of readdirSync(folder)) rmSync(join(folder, name));
        await (await openDataFolder(folder, now && { now })).storage.close();
        if (how === 'deleted') rmSync(join(folder, 'gatehouse.db'));
        else writeFileSync(join(folder, 'gatehouse.db'), '');
        const names = readdirSync(folder);
        expect(await inspectDataFolder(folder)).toEqual({ state: 'new', ...(now && { keysFrom: made }) });
        expect(readdirSync(folder)).toEqual(names);
      }
    },
  );

  it('finds a log whose database is gone, which the server refuses without a new key file (T-172)', async () => {
    const folder = testFolder();
    writeFileSync(join(folder, 'gatehouse.db-wal'), 'what was committed last');
    const fault = expect.stringContaining('The database is gone, but its log');
    expect(await inspectDataFolder(folder)).toEqual({ state: 'faulty', fault });
    await expect(openDataFolder(folder)).rejects.toThrow('The database is gone, but its log');
    expect(readdirSync(folder)).toEqual(['gatehouse.db-wal']);
  });

  it('finds one ready while a server uses it', async () => {
    const folder = testFolder();
    const { storage } = await openDataFolder(folder);
    expect(await inspectDataFolder(folder)).toEqual({ state: 'ready', bytes: expect.any(Number) });
    await storage.close();
  });

  it('finds what the next start brings to another schema, and leaves it as it is (T-174)', async () => {
    const folder = await earlierDataFolder();
    const found = {
      state: 'ready',
      bytes: expect.any(Number),
      upgrade: { from: schemas.earlier, to: schemas.newest },
    };
    expect(await inspectDataFolder(folder)).toEqual(found);
    expect(await inspectDataFolder(folder)).toEqual(found);
    await (await openDataFolder(folder)).storage.close();
    expect(await inspectDataFolder(folder)).toEqual({ state: 'ready', bytes: expect.any(Number) });
  });

  it('finds a database of a newer program, which the server would refuse', async () => {
    const folder = testFolder();
    await (await openDataFolder(folder)).storage.close();
    const db = new Database(join(folder, 'gatehouse.db'));
    db.pragma('user_version = 9999');
    db.close();
    expect(await inspectDataFolder(folder)).toEqual({
      state: 'faulty',
      fault: expect.stringContaining('Use the newer program that wrote it'),
    });
  });

  it('says that another process has the database for itself', async () => {
    const folder = await earlierDataFolder();
    const holder = runProgram('test/storage/sqlite/hold-alone.ts', [join(folder, 'gatehouse.db'), '60000']);
    onTestFinished(() => holder.stop());
    await holder.waitFor('stdout', /held/);
    expect(await inspectDataFolder(folder)).toEqual({
      state: 'faulty',
      fault: expect.stringMatching(
        /^Another process has the database for itself.* Wait for it, or end it\.$/,
      ),
    });
  });

  it('finds keys that others can read, and a database that is none', async () => {
    const folder = testFolder();
    await (await openDataFolder(folder)).storage.close();
    chmodSync(join(folder, 'gatehouse.keys.json'), 0o644);
    expect(await inspectDataFolder(folder)).toMatchObject({
      state: 'faulty',
      fault: expect.stringContaining('chmod 600'),
    });
    chmodSync(join(folder, 'gatehouse.keys.json'), 0o600);
    writeFileSync(join(folder, 'gatehouse.db'), 'no database at all '.repeat(100));
    expect(await inspectDataFolder(folder)).toMatchObject({
      state: 'faulty',
      fault: 'The database is damaged. Put a backup in its place; nothing was changed.',
    });
  });

  it('finds keys of another database, and damaged ones without a database, which the server would refuse (T-179)', async () => {
    const [folder, other] = [testFolder(), testFolder()];
    for (const each of [folder, other]) await (await openDataFolder(each)).storage.close();
    const keys = join(folder, 'gatehouse.keys.json');
    copyFileSync(join(other, 'gatehouse.keys.json'), keys);
    expect(await inspectDataFolder(folder)).toMatchObject({
      state: 'faulty',
      fault: expect.stringContaining('The key file belongs to another database.'),
    });
    rmSync(join(folder, 'gatehouse.db'));
    expect(await inspectDataFolder(folder)).toEqual({ state: 'new' });
    writeFileSync(keys, 'garbage');
    expect(await inspectDataFolder(folder)).toMatchObject({
      state: 'faulty',
      fault: expect.stringContaining('The key file is damaged.'),
    });
  });
});

/** Looks at a data folder on a file system that is read-only. */
function inspectReadOnly(folder: string): unknown {
  const module = new URL('../../../../src/storage/sqlite/index.ts', import.meta.url);
  const script = `import { inspectDataFolder } from '${module}';
    console.log(JSON.stringify(await inspectDataFolder('${folder}')));`;
  const mount = `mount --bind "${folder}" "${folder}" && mount -o remount,ro,bind "${folder}" && exec "$@"`;
  const node = [process.execPath, '--input-type=module', '-e', script];
  return JSON.parse(execFileSync('unshare', ['-m', 'sh', '-c', mount, 'sh', ...node], { encoding: 'utf8' }));
}

describe('the access to a data folder', () => {
  it.skipIf(!mayMount)(
    'is missed before a start where the folder cannot be written, new or used',
    async () => {
      const folder = testFolder();
      const refused = {
        state: 'faulty',
        fault: `${folder} cannot be written (EROFS). Its file system is mounted read-only, and a server needs one that is not: mount it for writing, or name another data folder.`,
      };
      expect(inspectReadOnly(folder)).toEqual(refused);
      await (await openDataFolder(folder)).storage.close();
      expect(inspectReadOnly(folder)).toEqual(refused);
    },
  );

  it('is warned of where every user of the machine has it', () => {
    const folder = testFolder();
    expect(adviseOnFolder(join(folder, 'none'))).toEqual([]);
    chmodSync(folder, 0o770);
    expect(adviseOnFolder(folder)).toEqual([]);
    chmodSync(folder, 0o777);
    expect(adviseOnFolder(folder)).toEqual([
      `All users of this machine may write to the data folder (mode 777), and so put another database and other keys in place. Run: chmod 700 "${folder}"`,
    ]);
  });
});
