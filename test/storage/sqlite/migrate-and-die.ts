import Database from 'better-sqlite3';
import { migrate } from '../../../src/storage/sqlite/connection/migrate.ts';

/** Migrates a database and dies of SIGKILL at the given statement; ends with 0 where there are not that many. */
const [file = '', statement = '0'] = process.argv.slice(2);
let count = 0;
const db = new Database(file, {
  verbose: () => {
    if (++count === Number(statement)) process.kill(process.pid, 'SIGKILL');
  },
});
migrate(db);
db.close();
