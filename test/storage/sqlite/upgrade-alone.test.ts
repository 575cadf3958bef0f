import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../../src/storage/sqlite/open.ts';
import { runProgram } from '../../support/program.ts';
import { earlierDatabase, schemas } from './earlier-database.ts';

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
