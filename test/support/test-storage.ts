import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import pg from 'pg';
import { type DataFolder, openDataFolder } from '../../src/storage/sqlite/index.ts';

/**
 * Storage of the installations that flows start: SQLite in their data folder, PostgreSQL with one node, or PostgreSQL with
 * two nodes that share the requests (`cluster`). `scripts/test --cluster` runs the flows with the last two.
 */
export const testStorage = readTestStorage(process.env.GATEHOUSE_TEST_STORAGE);

function readTestStorage(named = 'sqlite'): 'sqlite' | 'postgres' | 'cluster' {
  if (named === 'sqlite' || named === 'postgres' || named === 'cluster') return named;
  throw new Error(`GATEHOUSE_TEST_STORAGE: there is no storage ${named}`);
}

/** Number of nodes of an installation. */
export const nodeCount = testStorage === 'cluster' ? 2 : 1;

/** Connections for reads of a node; tests start many nodes on one server. */
const poolSize = 3;

/** Returns the URL of the database that belongs to a data folder, and creates the database at first. */
async function databaseUrlOf(folder: string): Promise<string> {
  const file = join(folder, 'database-url');
  if (!existsSync(file)) {
    const { createDatabaseAt, sharedVariable } = await import('./postgres/postgres.ts');
    writeFileSync(file, await createDatabaseAt(process.env[sharedVariable] ?? ''));
  }
  return readFileSync(file, 'utf8');
}

/** Returns the setting `storage` for an installation with a data folder. */
export async function storageSettings(folder: string): Promise<{ storage?: object }> {
  if (testStorage === 'sqlite') return {};
  return { storage: { postgres: await databaseUrlOf(folder), poolSize } };
}

/** Opens the state of an installation. @param options as of `openDataFolder`; the clock on PostgreSQL */
export async function openState(
  folder: string,
  options: Parameters<typeof openDataFolder>[1] = {},
): Promise<DataFolder> {
  if (testStorage === 'sqlite') return openDataFolder(folder, options);
  const { findMasterKey, openPostgres } = await import('../../src/storage/postgres/index.ts');
  return openPostgres({
    ...{ url: await databaseUrlOf(folder), poolSize },
    ...(options.now ? { now: options.now } : {}),
    masterKey: (isNew) => findMasterKey(undefined, { data: folder, env: {}, isNew }),
  });
}

/**
 * Returns the options by which a command finds an installation.
 * @param settings of its config file; one is written if there are any, or the storage is PostgreSQL
 */
export async function placeOf(folder: string, settings: object = {}): Promise<string[]> {
  const all = { ...settings, ...(await storageSettings(folder)) };
  if (Object.keys(all).length === 0) return ['--data', folder];
  const config = join(folder, 'installation.json');
  writeFileSync(config, JSON.stringify(all));
  return ['--data', folder, '--config', config];
}

/** Runs a statement in the call ledger of an installation, as {@link queryDatabase} does in its database. */
export function queryLedger<Row = Record<string, unknown>>(folder: string, sql: string): Promise<Row[]> {
  return queryDatabase(folder, sql, [], 'gatehouse.calls.db');
}

/**
 * Runs a statement in the database of an installation, beside its servers.
 * @param sql in words of both databases; parameters are `$1`, `$2` and so on
 * @param file of SQLite, in the data folder
 * @returns its rows; counts are numbers
 */
export async function queryDatabase<Row = Record<string, unknown>>(
  folder: string,
  sql: string,
  values: readonly (string | number)[] = [],
  file = 'gatehouse.db',
): Promise<Row[]> {
  if (testStorage === 'sqlite') {
    const database = new Database(join(folder, file));
    try {
      const statement = database.prepare<unknown[], Row>(sql);
      const named = values.length > 0 ? [Object.fromEntries(values.map((value, at) => [at + 1, value]))] : [];
      if (statement.reader) return statement.all(...named);
      statement.run(...named);
      return [];
    } finally {
      database.close();
    }
  }
  // Bytes that are text are written as text, so that a secret in them is found.
  const client = new pg.Client({
    connectionString: await databaseUrlOf(folder),
    options: '-c bytea_output=escape',
  });
  client.setTypeParser(pg.types.builtins.INT8, Number);
  await client.connect();
  try {
    return (await client.query(sql, [...values])).rows as Row[];
  } finally {
    await client.end();
  }
}

/** Returns the size of the database of an installation, in bytes. */
export async function countDatabaseBytes(folder: string): Promise<number> {
  if (testStorage === 'sqlite')
    return ['gatehouse.db', 'gatehouse.db-wal']
      .map((file) => statSync(join(folder, file), { throwIfNoEntry: false })?.size ?? 0)
      .reduce((sum, size) => sum + size, 0);
  const [database] = await queryDatabase<{ bytes: number }>(
    folder,
    'SELECT pg_database_size(current_database()) AS bytes',
  );
  return database?.bytes ?? 0;
}

/** Returns what whoever steals the database of an installation can read: its files, or all its rows. */
export async function readDatabase(folder: string): Promise<string> {
  return testStorage === 'sqlite' ? readFiles(folder, 'gatehouse.db') : readTables(folder, '%');
}

/** Returns what whoever steals the call ledger of an installation can read: its files, or the rows of its tables. */
export async function readLedger(folder: string): Promise<string> {
  return testStorage === 'sqlite' ? readFiles(folder, 'gatehouse.calls.db') : readTables(folder, 'call%');
}

async function readFiles(folder: string, file: string): Promise<string> {
  const files = [file, `${file}-wal`].map((name) => readFile(join(folder, name), 'latin1'));
  return (await Promise.all(files)).join('\n');
}

/** @param pattern of the names, as of LIKE */
async function readTables(folder: string, pattern: string): Promise<string> {
  const tables = await queryDatabase<{ name: string }>(
    folder,
    `SELECT table_name AS name FROM information_schema.tables
     WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' AND table_name LIKE $1`,
    [pattern],
  );
  const rows = await Promise.all(
    tables.map(({ name }) =>
      queryDatabase<{ row: string }>(folder, `SELECT whole::text AS row FROM "${name}" AS whole`),
    ),
  );
  return rows
    .flat()
    .map(({ row }) => row)
    .join('\n');
}
