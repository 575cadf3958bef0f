import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  findDataFolder,
  openInstallation,
  withAdministration,
} from '../../../../src/cli/commands/operator/installation.ts';
import { DatabaseLocked } from '../../../../src/storage/sqlite/connection/exclusive-lock.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { earlierDataFolder } from '../../../storage/sqlite/earlier-database.ts';
import { testIo } from '../../support/client-commands.ts';
import { newInstallation, withInstallation } from '../../support/installation.ts';

/** A data folder whose database was taken out of WAL mode, and is being read: it can be read beside that, and not be opened. */
async function readDataFolder(): Promise<string> {
  const data = await newInstallation();
  const db = new Database(join(data, 'gatehouse.db'));
  onTestFinished(() => void db.close());
  db.pragma('journal_mode = DELETE');
  db.exec('BEGIN; SELECT count(*) FROM sqlite_schema');
  return data;
}

describe('an operator’s command', () => {
  it('works beside a running server', async () => {
    const data = await newInstallation();
    await withInstallation(data, async ({ storage }) => {
      await withAdministration({ data }, false, ({ accounts }) =>
        accounts.add('grace@example.com', 'password'),
      );
      expect(await storage.accounts.list()).toHaveLength(2);
    });
  });

  it('closes the database also where its work fails', async () => {
    const data = await newInstallation();
    const failing = withAdministration({ data }, false, () => Promise.reject(new Error('no')));
    await expect(failing).rejects.toThrow('no');
    expect(existsSync(join(data, 'gatehouse.db-wal'))).toBe(false);
  });

  it('says on standard error that it brings a database of an earlier version up, once (T-174)', async () => {
    const data = await earlierDataFolder();
    for (const said of [
      /^The database is of an earlier version\. It is upgraded from schema 11 to \d+; .*\n$/,
      /^$/,
    ]) {
      const { io, written } = testIo();
      await (await openInstallation({ data }, io)).storage.close();
      expect(written.stderr).toMatch(said);
    }
  });

  it('does not wait for ever for a database that can be read and not be opened', async () => {
    const data = await readDataFolder();
    const { io, written } = testIo();
    await expect(openInstallation({ data }, io)).rejects.toThrow(DatabaseLocked);
    expect(written.stderr).toBe('');
  });

  it('is ended by its signal also between two tries to open the database', async () => {
    const data = await readDataFolder();
    const signal = AbortSignal.timeout(100);
    await expect(openInstallation({ data }, testIo().io, { signal })).rejects.toMatchObject({
      name: 'AbortError',
    });
  });

  it('makes an installation only where it may, and in a folder that was named only where that is there', async () => {
    const data = join(testFolder(), 'data');
    await expect(withAdministration({ data }, false, async () => 1)).rejects.toMatchObject({ exitCode: 7 });
    expect(existsSync(data)).toBe(false);
    await expect(withAdministration({ data }, true, async () => 1)).rejects.toMatchObject({ exitCode: 7 });
    expect(existsSync(data)).toBe(false);
    mkdirSync(data);
    expect(await withAdministration({ data }, true, async () => 1)).toBe(1);
    expect(existsSync(join(data, 'gatehouse.db'))).toBe(true);
  });

  it('finds the installation of a config file that is faulty, and says where it cannot what does', async () => {
    const data = await newInstallation();
    const config = join(testFolder(), 'gatehouse.json');
    const write = (settings: string) => writeFileSync(config, settings);
    const faulty = { data, routes: { a: { backend: { comand: 'x' } } } };
    write(JSON.stringify(faulty));
    expect(await findDataFolder({ config })).toBe(data);
    const count = await withAdministration({ config }, false, async ({ accounts }) => accounts.list());
    expect(count).toHaveLength(1);

    write('{ "data": ');
    await expect(findDataFolder({ config })).rejects.toThrow(
      expect.objectContaining({
        exitCode: 2,
        message: expect.stringContaining('is not valid JSON'),
        hint: expect.stringContaining('--data'),
      }),
    );
    expect(await findDataFolder({ config, data })).toBe(data);
    expect(await withAdministration({ config, data }, false, async () => 1)).toBe(1);

    write(JSON.stringify({ dta: data }));
    await expect(findDataFolder({ config })).rejects.toThrow(/dta: .*did you mean data\?/);
    await expect(withAdministration({ config }, true, async () => 1)).rejects.toThrow(/did you mean data\?/);
    expect(existsSync(join(config, '..', 'data'))).toBe(false);
  });
});
