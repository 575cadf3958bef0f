import Database from 'better-sqlite3';

/** Another process at the same database: takes the write lock, says so, and holds it for some milliseconds. */
const [file = '', holdMs = '0'] = process.argv.slice(2);
const db = new Database(file);
db.exec('BEGIN EXCLUSIVE');
process.stdout.write('locked\n');
setTimeout(() => {
  db.exec('ROLLBACK');
  db.close();
}, Number(holdMs));
