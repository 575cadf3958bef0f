import Database from 'better-sqlite3';
import { openDatabase } from '../../../src/storage/sqlite/connection/open.ts';

/** Another process at the same database: opens it as this version or, `plain`, as an earlier one has it, and closes it after some milliseconds. */
const [file = '', how = '', holdMs = '0'] = process.argv.slice(2);
const db = how === 'plain' ? new Database(file) : openDatabase(file);
db.prepare('SELECT count(*) FROM accounts').pluck().get();
process.stdout.write('open\n');
setTimeout(() => db.close(), Number(holdMs));
