import { existsSync, linkSync, rmSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { createSecretFile, formatKeyFile, readKeyFile } from '../../crypto/key-file.ts';
import { randomSecret } from '../../crypto/secret.ts';
import {
  type CopiedRow,
  type CopiedTable,
  type CopyEnd,
  type CopySource,
  type CopyTarget,
  keyOf,
  namesOf,
} from '../copied-tables.ts';
import { StorageFault } from '../storage.ts';
import { isBusy } from './connection/exclusive-lock.ts';
import { versionOf } from './connection/migrate.ts';
import { isLogOrphaned, openDatabase, requireNoOrphanedLog, toStorageFault } from './connection/open.ts';
import { flush } from './data-folder/back-up.ts';
import { dataFiles, ensureFolder } from './data-folder/data-folder.ts';
import { requireNotMoved } from './data-folder/installation.ts';
import { removeEmpty } from './data-folder/restore.ts';

/** Creates the part that source and target share. */
function createEnd(
  db: Database.Database,
  folder: string,
): Pick<CopyEnd, 'schemaVersion' | 'description' | 'count' | 'read' | 'lastNumber'> {
  const lists = new Map<string, { first: Database.Statement; next: Database.Statement }>();

  function statementsOf(table: CopiedTable): { first: Database.Statement; next: Database.Statement } {
    const { name, key, batch } = table;
    const known = lists.get(name);
    if (known) return known;
    const list = (where: string): Database.Statement =>
      db
        .prepare(`SELECT ${namesOf(table)} FROM "${name}" ${where} ORDER BY ${key.join(', ')} LIMIT ${batch}`)
        .raw();
    const place = `(${key.join(', ')}) > (${key.map(() => '?').join(', ')})`;
    const made = { first: list(''), next: list(`WHERE ${place}`) };
    lists.set(name, made);
    return made;
  }

  return {
    schemaVersion: versionOf(db),
    description: `the data folder ${folder}`,
    count: async ({ name }) => countRows(db, name),
    async read(table, after) {
      const { first, next } = statementsOf(table);
      const rows = (after ? next.all(...keyOf(table, after)) : first.all()) as CopiedRow[];
      for (const row of rows) requireSafeIntegers(table, row);
      return rows;
    },
    async lastNumber({ name, numbered = '' }) {
      const assigned = db.prepare<[string], number>('SELECT seq FROM sqlite_sequence WHERE name = ?').pluck();
      const present = db.prepare<[], number>(`SELECT coalesce(max(${numbered}), 0) FROM "${name}"`).pluck();
      return Math.max(present.get() ?? 0, assigned.get(name) ?? 0);
    },
  };
}

function countRows(db: Database.Database, table: string): number {
  return db.prepare<[], number>(`SELECT count(*) FROM "${table}"`).pluck().get() ?? 0;
}

function requireSafeIntegers({ name }: CopiedTable, row: CopiedRow): void {
  if (row.some((value) => typeof value === 'number' && !Number.isSafeInteger(value)))
    throw new StorageFault(`A number in the table ${name} is beyond 2^53. Nothing was copied.`);
}

/**
 * Opens a data folder to copy it, exclusively.
 * @param folder absolute path
 * @throws StorageFault with a sentence that says what to do
 */
export function openCopySource(folder: string): CopySource {
  const file = join(folder, dataFiles.database);
  let db: Database.Database | undefined;
  try {
    requireNoOrphanedLog(file);
    if (!existsSync(file)) throw new StorageFault(`There is no Gatehouse database in ${folder}.`);
    db = new Database(file, { timeout: 0, fileMustExist: true });
    db.pragma('locking_mode = EXCLUSIVE');
    db.pragma('synchronous = FULL');
    db.exec('BEGIN EXCLUSIVE');
    if (db.pragma('quick_check(1)', { simple: true }) !== 'ok')
      throw new StorageFault('The database is damaged. Put a backup in its place; nothing was changed.');
    requireNotMoved(db);
    return toSource(db, folder);
  } catch (error) {
    db?.close();
    if (isBusy(error))
      throw new StorageFault('The database is in use. Stop the server first; nothing was changed.', {
        cause: error,
      });
    throw toStorageFault(error, file);
  }
}

function toSource(db: Database.Database, folder: string): CopySource {
  return {
    ...createEnd(db, folder),
    readKeys: async () => formatKeyFile(readKeyFile(join(folder, dataFiles.keys))),
    async findNul({ name, columns }) {
      const texts = Object.entries(columns).flatMap(([column, form]) => (form === 'text' ? [column] : []));
      if (texts.length === 0) return [];
      const counts = texts.map(
        (column) => `coalesce(sum(instr("${column}", char(0)) > 0), 0) AS "${column}"`,
      );
      const found = db
        .prepare<[], Record<string, number>>(`SELECT ${counts.join(', ')} FROM "${name}"`)
        .get();
      return Object.entries(found ?? {}).flatMap(([column, rows]) => (rows > 0 ? [{ column, rows }] : []));
    },
    async markMoved(to) {
      db.prepare('UPDATE installation SET moved_to = ?').run(to);
    },
    async commit() {
      db.exec('COMMIT');
    },
    async close() {
      if (db.inTransaction) db.exec('ROLLBACK');
      db.close();
    },
  };
}

/**
 * Creates a data folder to copy an installation to. Database and key file appear in it when the copy is committed.
 * @param folder absolute path; the folder may exist, without an installation in it
 * @throws StorageFault with a sentence that says what to do
 */
export function openCopyTarget(folder: string): CopyTarget {
  const place = { database: join(folder, dataFiles.database), keys: join(folder, dataFiles.keys) };
  const made = ensureFolder(folder);
  if (existsSync(place.database) || isLogOrphaned(place.database) || existsSync(place.keys))
    throw new StorageFault(
      `There is an installation in ${folder}, or a part of one. Name a folder without one; nothing was changed.`,
    );
  const draft = `${place.database}.${randomSecret(6)}`;
  let db: Database.Database | undefined;
  const clear = (): void => {
    db?.close();
    for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${draft}${suffix}`, { force: true });
    removeEmpty(made);
  };
  try {
    db = openDatabase(draft);
    // The draft is flushed as a whole before it takes its place, and removed if anything fails before.
    db.pragma('journal_mode = OFF');
    db.pragma('synchronous = OFF');
    return toTarget(db, { folder, draft, ...place }, clear);
  } catch (error) {
    clear();
    throw toStorageFault(error, draft);
  }
}

function toTarget(
  db: Database.Database,
  { folder, draft, database, keys }: { folder: string; draft: string; database: string; keys: string },
  clear: () => void,
): CopyTarget {
  const triggers = db
    .prepare<[], { name: string; sql: string }>("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
    .all();
  const isCounted = db
    .prepare<[string], number>("SELECT instr(sql, 'AUTOINCREMENT') FROM sqlite_schema WHERE name = ?")
    .pluck();
  const inserts = new Map<string, Database.Statement>();
  let keyText = '';
  db.exec('BEGIN EXCLUSIVE');
  for (const { name } of triggers) db.exec(`DROP TRIGGER "${name}"`);
  db.exec('DELETE FROM mcp_session_total');

  return {
    ...createEnd(db, folder),
    async write(table, rows) {
      const { name, columns } = table;
      let insert = inserts.get(name);
      if (!insert) {
        const values = Object.keys(columns).map(() => '?');
        insert = db.prepare(`INSERT INTO "${name}" (${namesOf(table)}) VALUES (${values.join(', ')})`);
        inserts.set(name, insert);
      }
      for (const row of rows) insert.run(...row);
    },
    async setLastNumber({ name }, number) {
      if (!isCounted.get(name)) return;
      db.prepare('DELETE FROM sqlite_sequence WHERE name = ?').run(name);
      db.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)').run(name, number);
    },
    async writeKeys(text) {
      keyText = text;
    },
    readKeys: async () => keyText,
    async commit() {
      for (const { sql } of triggers) db.exec(sql);
      db.exec('COMMIT');
      db.pragma('synchronous = FULL');
      db.pragma('journal_mode = WAL');
      db.close();
      flush(draft);
      createSecretFile(keys, keyText);
      try {
        // Unlike a rename it replaces nothing.
        linkSync(draft, database);
      } catch (error) {
        unlinkSync(keys);
        throw toStorageFault(error, database);
      }
      flush(folder);
    },
    async close() {
      clear();
    },
  };
}
