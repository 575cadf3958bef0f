import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { sealedColumns } from '../../../../src/storage/sealed-columns.ts';
import { openSqliteStorage } from '../../../../src/storage/sqlite/index.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { describeSealedRows, notSealed } from '../../contract/sealed-rows.ts';

describe('SQLite', () =>
  describeSealedRows((keys) => openSqliteStorage(join(testFolder(), 'gatehouse.db'), keys)));

describe('sealed columns', () => {
  it('are every column of bytes in the schema, but for those that are named here (T-179)', () => {
    const file = join(testFolder(), 'gatehouse.db');
    void openSqliteStorage(file).close();
    const db = new Database(file, { readonly: true });
    const found = db
      .prepare<[], string>(
        `SELECT tables.name || '.' || columns.name FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns
         WHERE tables.type = 'table' AND columns.type = 'BLOB'`,
      )
      .pluck()
      .all();
    db.close();
    const listed = sealedColumns
      .filter(({ form }) => form === 'bytes')
      .map(({ table, column }) => `${table}.${column}`);
    expect(found.sort()).toEqual([...listed, ...notSealed].sort());
  });
});
