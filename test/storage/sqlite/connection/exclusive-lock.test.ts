import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  checkDatabaseState,
  createServingLock,
  DatabaseLocked,
} from '../../../../src/storage/sqlite/connection/exclusive-lock.ts';
import { openDatabase } from '../../../../src/storage/sqlite/connection/open.ts';
import { StorageFault } from '../../../../src/storage/storage.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { runProgram } from '../../../support/program.ts';
import { earlierDatabase, schemas } from '../earlier-database.ts';

describe('a look at a database', () => {
  it('says whether another process has it for itself, and of which version it is (T-174)', async () => {
    const file = earlierDatabase();
    expect(checkDatabaseState(file)).toBe('earlier');
    const holder = runProgram('test/storage/sqlite/hold-alone.ts', [file, '60000']);
    onTestFinished(() => holder.stop());
    await holder.waitFor('stdout', /held/);
    expect(checkDatabaseState(file)).toBe('held');
    expect(() => openDatabase(file)).toThrow(DatabaseLocked);
    await holder.stop();
    openDatabase(file).close();
    expect(checkDatabaseState(file)).toBe('current');
  });

  it('says nothing of one that is not there, or cannot be read, and leaves it as it is (T-172)', () => {
    const file = join(testFolder(), 'gatehouse.db');
    expect(checkDatabaseState(file)).toBeUndefined();
    writeFileSync(file, '');
    writeFileSync(`${file}-wal`, 'log');
    expect(checkDatabaseState(file)).toBeUndefined();
    expect(statSync(`${file}-wal`).size).toBe(3);
    writeFileSync(file, 'no database at all');
    expect(checkDatabaseState(file)).toBeUndefined();
  });
});

function open(file: string, how: 'plain' | 'as it is now', holdMs = 0) {
  const program = runProgram('test/storage/sqlite/open-and-hold.ts', [file, how, String(holdMs)]);
  onTestFinished(() => program.stop());
  return program;
}

function stateOf(file: string): unknown[] {
  const db = new Database(file);
  try {
    const tables = db.prepare('SELECT name, sql FROM sqlite_master ORDER BY name').all();
    return [db.pragma('user_version', { simple: true }), tables];
  } finally {
    db.close();
  }
}

describe('a database of an earlier version', () => {
  it('that another process has open is left as it is, and what to do is said (T-174)', async () => {
    const file = earlierDatabase();
    const before = stateOf(file);
    const server = open(file, 'plain', 60_000);
    await server.waitFor('stdout', /open/);
    expect(() => openDatabase(file)).toThrow(
      /of an earlier version, and another process has it open\. Stop every server .* nothing was changed\.$/,
    );
    expect(stateOf(file)).toEqual(before);
    await server.stop();
    openDatabase(file).close();
    expect(stateOf(file)[0]).toBe(schemas.newest);
  });

  it('that a command has open for a moment is brought up after it', async () => {
    const file = earlierDatabase();
    await open(file, 'plain', 700).waitFor('stdout', /open/);
    const db = openDatabase(file);
    onTestFinished(() => void db.close());
    expect(db.prepare('SELECT id FROM accounts').pluck().all()).toEqual(['ada']);
    const pragma = (name: string) => db.pragma(name, { simple: true });
    expect([pragma('user_version'), pragma('journal_mode'), pragma('locking_mode')]).toEqual([
      schemas.newest,
      'wal',
      'normal',
    ]);
  });

  it('is brought up by one of several processes that wait for the same, and all go on (T-174)', async () => {
    const file = earlierDatabase();
    const command = open(file, 'plain', 2000);
    await command.waitFor('stdout', /open/);
    const starts = Array.from({ length: 4 }, () => open(file, 'as it is now', 60_000));
    await Promise.all(starts.map((start) => start.waitFor('stdout', /open/)));
    expect(stateOf(file)[0]).toBe(schemas.newest);
  });
});

describe('the lock of servers', () => {
  it('is shared by servers that forward requests to each other, and by no other (FA-37)', () => {
    const file = join(testFolder(), 'gatehouse.db.serving');
    const [a, b] = [createServingLock(file), createServingLock(file)];
    const endShared = [a.take(true), b.take(true)];
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(() => createServingLock(file).take(false)).toThrow(StorageFault);
    for (const end of endShared) end();
    const endAlone = a.take(false);
    for (const isShared of [true, false])
      expect(() => b.take(isShared)).toThrow(/set cluster\.port for both/);
    endAlone();
    b.take(false)();
  });

  it('is held by all of a process on one storage, until the last of them ends', () => {
    const file = join(testFolder(), 'gatehouse.db.serving');
    const [here, there] = [createServingLock(file), createServingLock(file)];
    const [first, second] = [here.take(false), here.take(false)];
    first();
    first();
    expect(() => there.take(false)).toThrow(StorageFault);
    second();
    there.take(false)();
  });

  it('ends with the storage, whoever holds it', () => {
    const file = join(testFolder(), 'gatehouse.db.serving');
    const [here, there] = [createServingLock(file), createServingLock(file)];
    for (const isShared of [false, false]) here.take(isShared);
    expect(() => there.take(false)).toThrow(StorageFault);
    here.end();
    there.take(false)();
  });

  it('ends with a process that is killed (FA-37)', async () => {
    const file = join(testFolder(), 'gatehouse.db.serving');
    const holder = runProgram('test/storage/sqlite/hold-serving.ts', [file], { input: '' });
    onTestFinished(() => holder.stop());
    await holder.waitFor('stdout', /held/);
    const lock = createServingLock(file);
    expect(() => lock.take(false)).toThrow(StorageFault);
    holder.process.kill('SIGKILL');
    await holder.ended;
    lock.take(false)();
  });
});
