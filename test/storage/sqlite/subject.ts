import { join } from 'node:path';
import { openSqliteStorage } from '../../../src/storage/sqlite/index.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { testFolder } from '../../client/support/folder.ts';

/** Opens a new SQLite database in a folder of its own, both gone at the end of the running test. */
export function openNewDatabase(): Storage {
  return openSqliteStorage(join(testFolder(), 'gatehouse.db'));
}
