import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { KeyFileFault } from '../../src/crypto/key-file.ts';
import type { SealingKey } from '../../src/crypto/sealed-box.ts';
import type { CopySource, CopyTarget } from '../../src/storage/copied-tables.ts';
import { type CopiedInstallation, copyInstallation } from '../../src/storage/copy.ts';
import * as postgres from '../../src/storage/postgres/index.ts';
import { generateMasterKey, parseMasterKey } from '../../src/storage/postgres/open-installation.ts';
import * as sqlite from '../../src/storage/sqlite/index.ts';
import { testFolder } from '../client/support/folder.ts';
import { usePostgres } from '../support/postgres/postgres.ts';
import { runProgram } from '../support/program.ts';
import { fillInstallation, readInstallation, withDatabase } from './filled-installation.ts';
import { connectTo } from './postgres/subject.ts';
import { earlierDataFolder } from './sqlite/earlier-database.ts';

const server = usePostgres();

const masterKey = parseMasterKey(generateMasterKey()) as SealingKey;
const at = (url: string): postgres.CopyPlace => ({ url, masterKey: async () => masterKey });
const now = (): number => Math.floor(Date.now() / 1000);

async function filled(): Promise<string> {
  const folder = join(testFolder(), 'data');
  await fillInstallation(folder);
  return folder;
}

/** Copies, and closes both ends as the command does. */
async function copy(
  source: CopySource,
  target: CopyTarget,
  options: Partial<Parameters<typeof copyInstallation>[2]> = {},
): Promise<CopiedInstallation> {
  try {
    return await copyInstallation(source, target, { moves: true, now: now(), ...options });
  } finally {
    await target.close();
    await source.close();
  }
}

/** Copies an installation in a folder to a new database; gives the URL. */
async function toPostgres(folder: string): Promise<string> {
  const url = await server().createDatabase();
  await copy(sqlite.openCopySource(folder), await postgres.openCopyTarget(at(url)));
  return url;
}

async function countRows(url: string, table: string): Promise<number> {
  const client = await connectTo(url);
  return Number((await client.query<{ n: string }>(`SELECT count(*) AS n FROM ${table}`)).rows[0]?.n);
}

describe('an installation that moves to PostgreSQL and back', () => {
  it('has the same rows in every table, the same keys, and the same digests on each way', async () => {
    const folder = await filled();
    const before = readInstallation(folder);
    expect(Object.entries(before).filter(([, rows]) => rows.length === 0)).toEqual([]);
    const url = await server().createDatabase();
    const there = await copy(sqlite.openCopySource(folder), await postgres.openCopyTarget(at(url)));
    const back = join(testFolder(), 'a', 'data');
    const here = await copy(await postgres.openCopySource(at(url)), sqlite.openCopyTarget(back));
    expect(readInstallation(back)).toEqual(before);
    expect(here).toEqual(there);
    expect(there.auditFaults).toBe(0);
    const keyFiles = [folder, back].map((data) => join(data, 'gatehouse.keys.json'));
    expect(readFileSync(keyFiles[1] ?? '', 'utf8')).toBe(readFileSync(keyFiles[0] ?? '', 'utf8'));
    expect(statSync(keyFiles[1] ?? '').mode & 0o777).toBe(0o600);
    const { storage } = await sqlite.openDataFolder(back);
    expect(await storage.accounts.list()).toHaveLength(2);
    await storage.close();
  });

  it('keeps NUL in notes, which PostgreSQL cannot hold', async () => {
    const url = await toPostgres(await filled());
    const storage = await postgres.openPostgresStorage({ url });
    const [note] = await storage.notes.list('ada', 1);
    await storage.close();
    expect(note?.text).toBe('with \0 and \u0001b');
  });

  it('gives no number twice that was given before', async () => {
    const folder = await filled();
    const url = await toPostgres(folder);
    const client = await connectTo(url);
    const insert = `INSERT INTO upstream_revocations (upstream, link_id, account_id, tokens) VALUES ('idp', 'l', 'a', $1) RETURNING id`;
    expect((await client.query(insert, [Buffer.from('tokens')])).rows).toEqual([{ id: '3' }]);
    await client.query('DELETE FROM upstream_revocations WHERE id = 3');
    const grant = `INSERT INTO grants (id, account_id, client_id, payload, expires_at) VALUES ('new', 'ada', 'client', '', 1) RETURNING number`;
    expect((await client.query(grant)).rows).toEqual([{ number: '8' }]);
    await client.query(`UPDATE backend_credentials SET entered_at = 9`);
    const changes = 'SELECT max(id) AS id FROM backend_credential_changes';
    expect((await client.query(changes)).rows).toEqual([{ id: '4' }]);
    const back = join(testFolder(), 'data');
    await copy(await postgres.openCopySource(at(url)), sqlite.openCopyTarget(back));
    withDatabase(back, (db) => {
      expect(db.prepare(insert.replace('$1', "x'00'")).get()).toEqual({ id: 4 });
      db.exec('UPDATE backend_credentials SET entered_at = 10');
      expect(db.prepare(changes).get()).toEqual({ id: 5 });
    });
  });

  it('is refused at the place that it left, with a sentence that names the new one', async () => {
    const folder = await filled();
    const url = await toPostgres(folder);
    await expect(sqlite.openDataFolder(folder)).rejects.toThrow(
      /^This installation has moved to the PostgreSQL database test_\w+ at 127\.0\.0\.1:\d+\. Start servers/,
    );
    const back = join(testFolder(), 'data');
    await copy(await postgres.openCopySource(at(url)), sqlite.openCopyTarget(back));
    await expect(postgres.openPostgresStorage({ url })).rejects.toThrow(
      `This installation has moved to the data folder ${back}.`,
    );
    expect(() => sqlite.openCopySource(folder)).toThrow('has moved to');
    await expect(postgres.openCopySource(at(url))).rejects.toThrow('has moved to');
  });

  it('stays usable at its place if it is copied for a trial', async () => {
    const folder = await filled();
    const url = await server().createDatabase();
    const target = await postgres.openCopyTarget(at(url));
    await copy(sqlite.openCopySource(folder), target, { moves: false });
    await (await sqlite.openDataFolder(folder)).storage.close();
    await (await postgres.openPostgresStorage({ url })).close();
  });

  it('takes faults of its audit log along and counts them', async () => {
    const folder = await filled();
    withDatabase(folder, (db) => db.exec("UPDATE audit SET event = 'other'"));
    const target = await postgres.openCopyTarget(at(await server().createDatabase()));
    expect((await copy(sqlite.openCopySource(folder), target)).auditFaults).toBeGreaterThan(0);
  });

  it('tells its progress over all tables, for the copy and for the check', async () => {
    const told: string[] = [];
    const target = await postgres.openCopyTarget(at(await server().createDatabase()));
    await copy(sqlite.openCopySource(await filled()), target, {
      onProgress: ({ step, table, done, total }) => told.push(`${step} ${table} ${done} ${total}`),
    });
    expect(told[0]).toMatch(/^copy installation 0 \d+$/);
    expect(told.at(-1)).toMatch(/^check definition_pins (\d+) \d+$/);
  });
});

describe('a copy that fails', () => {
  /** Copies a filled installation to a target that is changed by `change`; expects that nothing is left of it. */
  async function expectUndone(
    change: (target: CopyTarget, url: string) => Partial<CopyTarget>,
    fault: string,
  ): Promise<void> {
    const folder = await filled();
    const url = await server().createDatabase();
    const target = await postgres.openCopyTarget(at(url));
    const faulty = { ...target, ...change(target, url) };
    await expect(copy(sqlite.openCopySource(folder), faulty)).rejects.toThrow(fault);
    for (const table of ['accounts', 'key_schedule', 'artifacts'])
      expect(await countRows(url, table)).toBe(0);
    await (await sqlite.openDataFolder(folder)).storage.close();
    await toPostgres(folder);
  }

  it('by a row that differs leaves the target empty and the source as it was', async () => {
    await expectUndone(
      ({ write }) => ({
        write: (table, rows) =>
          write(table, table.name === 'accounts' ? rows.map((row) => row.with(2, 'another hash')) : rows),
      }),
      'The tables accounts differ between source and copy. Nothing was copied',
    );
  });

  it('by a row that is missing, or by the connection, leaves the target empty and the source as it was', async () => {
    await expectUndone(
      ({ write }) => ({
        write: async (table, rows) => (table.name === 'invitations' ? undefined : write(table, rows)),
      }),
      'The tables invitations differ',
    );
    await expectUndone(
      ({ writeKeys }, url) => ({
        async writeKeys(text) {
          await server().query(
            `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${new URL(url).pathname.slice(1)}'`,
          );
          return writeKeys(text);
        },
      }),
      'PostgreSQL cannot be reached',
    );
  });

  it('by a row that differs on the way back leaves no folder', async () => {
    const url = await toPostgres(await filled());
    const back = join(testFolder(), 'above', 'data');
    const target = sqlite.openCopyTarget(back);
    const faulty: CopyTarget = {
      ...target,
      write: (table, rows) => target.write(table, table.name === 'notes' ? [] : rows),
    };
    await expect(copy(await postgres.openCopySource(at(url)), faulty)).rejects.toThrow(
      'The tables notes differ',
    );
    expect(existsSync(join(back, '..'))).toBe(false);
    await (await postgres.openPostgresStorage({ url })).close();
  });

  it('by texts with NUL names them before anything is written', async () => {
    const folder = await filled();
    withDatabase(folder, (db) => {
      db.exec('UPDATE passkeys SET name = name || char(0)');
      db.exec('UPDATE artifacts SET used_from = char(0) WHERE used_from IS NOT NULL');
    });
    const url = await server().createDatabase();
    await expect(copy(sqlite.openCopySource(folder), await postgres.openCopyTarget(at(url)))).rejects.toThrow(
      'passkeys.name (2 rows), artifacts.used_from (1 row). Remove',
    );
    expect(await countRows(url, 'accounts')).toBe(0);
  });

  it('by the schema of an earlier version asks for the upgrade', async () => {
    const folder = await earlierDataFolder();
    const target = await postgres.openCopyTarget(at(await server().createDatabase()));
    await expect(copy(sqlite.openCopySource(folder), target)).rejects.toThrow(
      /^The source is of schema 11, the target of schema \d+\. Upgrade the source first/,
    );
  });

  it('by keys that belong to another database copies nothing (T-179)', async () => {
    const folder = await filled();
    const other = await filled();
    const source = sqlite.openCopySource(folder);
    const stranger = sqlite.openCopySource(other);
    const { readKeys } = stranger;
    const target = await postgres.openCopyTarget(at(await server().createDatabase()));
    await expect(copy({ ...source, readKeys }, target)).rejects.toThrow(KeyFileFault);
    await stranger.close();
  });
});

describe.each(['there', 'back'] as const)('a copy that is killed on the way %s', (direction) => {
  const key = generateMasterKey();
  const place = (url: string): postgres.CopyPlace => ({
    url,
    masterKey: async () => parseMasterKey(key) as SealingKey,
  });

  /** Copies with a program that is killed before a step; gives both ends. */
  async function killedBefore(step: string): Promise<{ folder: string; url: string }> {
    const start = await filled();
    const url = await server().createDatabase();
    let folder = start;
    if (direction === 'back') {
      await copy(sqlite.openCopySource(start), await postgres.openCopyTarget(place(url)));
      folder = join(testFolder(), 'data');
    }
    const program = runProgram('test/storage/copy-and-die.ts', [direction, folder, url, key, step]);
    expect([await program.ended, program.written.stderr]).toEqual([null, '']);
    return { folder, url };
  }

  it.each(['write the keys', 'commit the target'])(
    'before it could %s leaves the source as it was and the target empty: it can be run again',
    async (step) => {
      const { folder, url } = await killedBefore(step);
      const again =
        direction === 'there'
          ? await copy(sqlite.openCopySource(folder), await postgres.openCopyTarget(place(url)))
          : await copy(await postgres.openCopySource(place(url)), sqlite.openCopyTarget(folder));
      expect(again.tables.find(({ name }) => name === 'accounts')?.rows).toBe(2);
    },
  );

  it('before it could mark the source leaves both complete', async () => {
    const { folder, url } = await killedBefore('mark the source');
    await (await sqlite.openDataFolder(folder)).storage.close();
    const { storage } = await postgres.openPostgres(place(url));
    expect(await storage.accounts.list()).toHaveLength(2);
    await storage.close();
  });
});
