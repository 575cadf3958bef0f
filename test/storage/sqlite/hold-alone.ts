import Database from 'better-sqlite3';

/** Another process that has a database for itself, as one that brings it to a new schema: says so, and lets go of it after some milliseconds, or when a line is written to it. */
const [file = '', holdMs = '0'] = process.argv.slice(2);
const db = new Database(file);
db.pragma('locking_mode = EXCLUSIVE');
db.exec('BEGIN EXCLUSIVE');
process.stdout.write('held\n');
function letGo(): void {
  clearTimeout(timer);
  process.stdin.destroy();
  db.exec('ROLLBACK');
  db.close();
}
const timer = setTimeout(letGo, Number(holdMs));
process.stdin.once('data', letGo);
