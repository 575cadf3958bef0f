import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openInstallation, withAdministration } from '../../src/cli/open-administration.ts';
import { testFolder } from '../client/support/folder.ts';
import { earlierDataFolder } from '../storage/sqlite/earlier-database.ts';
import { testIo } from './support/client-commands.ts';
import { newInstallation, withInstallation } from './support/installation.ts';

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
      /^The database is of an earlier version\. It has to be brought from schema 11 to \d+,.*\n$/,
      /^$/,
    ]) {
      const { io, written } = testIo();
      await (await openInstallation(data, io)).storage.close();
      expect(written.stderr).toMatch(said);
    }
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
});
