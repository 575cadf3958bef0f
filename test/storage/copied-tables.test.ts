import { describe, expect, it } from 'vitest';
import { type CopiedTable, copiedTables } from '../../src/storage/copied-tables.ts';
import { openPostgresStorage } from '../../src/storage/postgres/index.ts';
import { openSqliteStorage } from '../../src/storage/sqlite/index.ts';
import { testFolder } from '../client/support/folder.ts';
import { usePostgres } from '../support/postgres/postgres.ts';
import { withDatabase } from './filled-installation.ts';
import { connectTo } from './postgres/subject.ts';

const server = usePostgres();

/** Tables that belong to the nodes or to one database, not to the installation; the call ledger stays with its store. */
const left = new Set([
  ...['nodes', 'node_messages', 'node_message_ends', 'counters', 'schema_version', 'sqlite_sequence'],
  ...['calls', 'call_seals', 'call_ends', 'call_writers', 'call_hours', 'call_ledger'],
  ...['commit_order', 'commit_marks', 'change_marks', 'key_schedule', 'unused_client_room'],
]);

/** Columns that are not copied. */
const leftColumns = new Set(['installation.moved_to', 'installation.server', 'mcp_sessions.node_id']);

interface Column {
  table: string;
  column: string;
  type: string;
}

function copied(columns: readonly Column[]): string[] {
  return columns
    .filter(({ table, column }) => !left.has(table) && !leftColumns.has(`${table}.${column}`))
    .map(({ table, column, type }) => `${table}.${column} ${type}`)
    .sort();
}

/** The listed columns with their types, as a database names them. */
const listed = (types: Record<CopiedTable['columns'][string], string>): string[] =>
  copiedTables
    .flatMap(({ name, columns }) =>
      Object.entries(columns).map(([column, form]) => `${name}.${column} ${types[form]}`),
    )
    .sort();

async function schemaOfSqlite<T>(work: Parameters<typeof withDatabase<T>>[1]): Promise<T> {
  const folder = testFolder();
  await openSqliteStorage(`${folder}/gatehouse.db`).close();
  return withDatabase(folder, work);
}

describe('the tables that are copied', () => {
  it('are all of SQLite with all columns, but for those of nodes', async () => {
    const found = await schemaOfSqlite((db) =>
      db
        .prepare<[], Column>(
          `SELECT tables.name AS "table", columns.name AS "column", columns.type
           FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns WHERE tables.type = 'table'`,
        )
        .all(),
    );
    const types = { text: 'TEXT', freeText: 'TEXT', number: 'INTEGER', boolean: 'INTEGER', bytes: 'BLOB' };
    expect(copied(found)).toEqual(listed(types));
  });

  it('are all of PostgreSQL with all columns, but for those of nodes and of PostgreSQL itself', async () => {
    const url = await server().createDatabase();
    await (await openPostgresStorage({ url })).close();
    const client = await connectTo(url);
    const { rows } = await client.query<Column>(
      `SELECT table_name AS "table", column_name AS "column",
         CASE WHEN data_type LIKE '%int%' THEN 'number' ELSE data_type END AS type
       FROM information_schema.columns WHERE table_schema = 'public'`,
    );
    const types = { text: 'text', freeText: 'text', number: 'number', boolean: 'boolean', bytes: 'bytea' };
    expect(copied(rows)).toEqual(listed(types));
  });

  it('stand behind the tables that they refer to, and their keys are unique', async () => {
    const names = copiedTables.map(({ name }) => name);
    const { references, uniques } = await schemaOfSqlite((db) => ({
      references: names.flatMap((name, index) =>
        db
          .prepare<[string], string>('SELECT "table" FROM pragma_foreign_key_list(?)')
          .pluck()
          .all(name)
          .map((parent) => names.indexOf(parent) < index),
      ),
      uniques: copiedTables.map(({ name, key }) => {
        const indexes = db
          .prepare<[string], string>(
            `SELECT group_concat(columns.name) FROM pragma_index_list(?) AS indexes, pragma_index_info(indexes.name) AS columns
             WHERE indexes."unique" GROUP BY indexes.name`,
          )
          .pluck()
          .all(name);
        const primary = db
          .prepare<[string], string>('SELECT group_concat(name) FROM pragma_table_info(?) WHERE pk > 0')
          .pluck()
          .get(name);
        return [...indexes, primary].includes(key.join(','));
      }),
    }));
    expect(references.length).toBeGreaterThan(10);
    expect(references).not.toContain(false);
    expect(uniques).not.toContain(false);
  });
});
