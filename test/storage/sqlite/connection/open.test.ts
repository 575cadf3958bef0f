import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../../../src/storage/sqlite/connection/open.ts';
import { openSqliteStorage } from '../../../../src/storage/sqlite/index.ts';
import { StorageFault } from '../../../../src/storage/storage.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { runProgram } from '../../../support/program.ts';
import { artifact } from '../../contract/subject.ts';

const mode = (file: string): number => statSync(file).mode & 0o777;

/** A closed database with a thousand rows in it. */
async function filledDatabase(): Promise<string> {
  const file = join(testFolder(), 'gatehouse.db');
  const storage = openSqliteStorage(file);
  await storage.artifacts.commit(Array.from({ length: 1000 }, (_, at) => artifact(`row-${at}`)));
  await storage.close();
  return file;
}

describe('an opened database', () => {
  it('has WAL, synchronous=FULL, foreign keys, a busy timeout and a safe SQLite (T-168)', () => {
    const db = openDatabase(join(testFolder(), 'gatehouse.db'));
    onTestFinished(() => void db.close());
    const pragma = (name: string) => db.pragma(name, { simple: true });
    expect({
      journal: pragma('journal_mode'),
      synchronous: pragma('synchronous'),
      foreignKeys: pragma('foreign_keys'),
    }).toEqual({ journal: 'wal', synchronous: 2, foreignKeys: 1 });
    expect(pragma('busy_timeout')).toBeGreaterThan(0);
    const [major = 0, minor = 0, patch = 0] = String(db.prepare('SELECT sqlite_version()').pluck().get())
      .split('.')
      .map(Number);
    expect(major * 1e6 + minor * 1e3 + patch).toBeGreaterThanOrEqual(3_051_003);
  });

  it('keeps what a savepoint would restore in memory, also where that is much', () => {
    const db = openDatabase(join(testFolder(), 'gatehouse.db'));
    onTestFinished(() => void db.close());
    db.exec('CREATE TABLE t (x)');
    db.exec(
      'WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 500) INSERT INTO t SELECT zeroblob(1000) FROM n',
    );
    const openFiles = () => readdirSync('/proc/self/fd').length;
    const before = openFiles();
    db.exec('BEGIN; SAVEPOINT job; UPDATE t SET x = x || 1');
    const within = openFiles();
    db.exec('ROLLBACK');
    expect(within).toBe(before);
  });

  it('is readable by its owner alone, with its log, also where it was open to others before (T-168)', () => {
    const file = join(testFolder(), 'gatehouse.db');
    for (const before of [undefined, 0o644]) {
      if (before !== undefined) chmodSync(file, before);
      const db = openDatabase(file);
      db.exec('CREATE TABLE IF NOT EXISTS t (x) ');
      expect([file, `${file}-wal`, `${file}-shm`].map(mode)).toEqual([0o600, 0o600, 0o600]);
      db.close();
    }
  });
});

describe('a database that cannot be used', () => {
  async function expectDamage(file: string): Promise<void> {
    const before = readFileSync(file);
    expect(() => openDatabase(file)).toThrow(StorageFault);
    expect(() => openDatabase(file)).toThrow(/The database is damaged\. Put a backup in its place/);
    expect(readFileSync(file).equals(before)).toBe(true);
  }

  it('that is no SQLite file is refused and left as it is (T-172)', async () => {
    const file = join(testFolder(), 'gatehouse.db');
    writeFileSync(file, 'this is not a database, whatever its name says. '.repeat(100));
    await expectDamage(file);
  });

  it.each([
    ['its header', 20, 40],
    ['its first page', 100, 400],
    ['its middle', 4096 * 5, 4096 * 8],
  ])('with flipped bytes in %s is refused and left as it is (T-172)', async (_place, from, to) => {
    const file = await filledDatabase();
    const bytes = readFileSync(file);
    for (let at = from; at < to; at++) bytes.writeUInt8((bytes.readUInt8(at) ^ 0xff) & 0xff, at);
    writeFileSync(file, bytes);
    await expectDamage(file);
  });

  it('cut short is refused and left as it is (T-172)', async () => {
    const file = await filledDatabase();
    truncateSync(file, 4096 * 7);
    await expectDamage(file);
  });

  it.each(['deleted', 'emptied'])('%s beside its log is not replaced by a new one (T-172)', async (how) => {
    const file = join(testFolder(), 'gatehouse.db');
    const storage = openSqliteStorage(file);
    onTestFinished(() => storage.close());
    await storage.artifacts.commit([artifact('t')]);
    const log = readFileSync(`${file}-wal`);
    expect(log.length).toBeGreaterThan(0);
    const copy = join(testFolder(), 'gatehouse.db');
    writeFileSync(`${copy}-wal`, log);
    if (how === 'emptied') writeFileSync(copy, '');
    expect(() => openDatabase(copy)).toThrow(/its log \(gatehouse\.db-wal\) is there/);
    expect(readFileSync(`${copy}-wal`).equals(log)).toBe(true);
  });

  it('whose log is gone or cut short opens with what was in the file, whole (T-172)', async () => {
    const file = await filledDatabase();
    rmSync(`${file}-wal`, { force: true });
    rmSync(`${file}-shm`, { force: true });
    const db = openDatabase(file);
    onTestFinished(() => void db.close());
    expect(db.prepare('SELECT count(*) FROM artifacts').pluck().get()).toBe(1000);
  });

  it('of a newer program is refused, and says so (T-174)', async () => {
    const file = await filledDatabase();
    const db = new Database(file);
    db.pragma('user_version = 9999');
    db.close();
    expect(() => openDatabase(file)).toThrow(
      /schema 9999, this program knows schemas up to \d+\. Use the newer program/,
    );
  });

  it('that is a folder is refused with what to do', () => {
    const file = join(testFolder(), 'gatehouse.db');
    mkdirSync(file);
    expect(() => openDatabase(file)).toThrow(`The data folder ${dirname(file)} cannot be written. `);
  });
});

describe('a database that another process is writing to', () => {
  it('is opened once it has committed', async () => {
    const file = join(testFolder(), 'gatehouse.db');
    openDatabase(file).close();
    const holder = runProgram('test/storage/sqlite/hold-lock.ts', [file, '700']);
    onTestFinished(() => holder.stop());
    await holder.waitFor('stdout', /locked/);
    const db = openDatabase(file, (opened) => void opened.exec('BEGIN IMMEDIATE; COMMIT'));
    expect(db.pragma('busy_timeout', { simple: true })).toBe(40);
    db.close();
  });
});
