import { copyFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openDatabase } from '../../../../src/storage/sqlite/connection/open.ts';
import { createSameFileAssertion, createWriter } from '../../../../src/storage/sqlite/connection/writer.ts';
import { StorageUnavailable } from '../../../../src/storage/storage.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { patience } from '../../../support/patience.ts';
import { runProgram } from '../../../support/program.ts';

/** Has the writer see no time pass unless it is told. */
function stopClock(): void {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
}

/** A writer over a table of numbers; `statements` collects what it runs. */
function startWriter() {
  const file = join(testFolder(), 'gatehouse.db');
  openDatabase(file).close();
  const statements: string[] = [];
  const db = new Database(file, { timeout: 40, verbose: (sql) => statements.push(String(sql)) });
  onTestFinished(() => void db.close());
  db.exec('CREATE TABLE numbers (value INTEGER PRIMARY KEY) STRICT');
  const insert = db.prepare('INSERT INTO numbers VALUES (?)');
  const writer = createWriter(db);
  return {
    file,
    db,
    writer,
    statements,
    insert: (value: number) => writer.write(() => insert.run(value).changes),
    numbers: () => db.prepare('SELECT value FROM numbers ORDER BY value').pluck().all(),
  };
}

describe('the writer', () => {
  it('gives what the work gave, once it is durable for others', async () => {
    const { file, insert } = startWriter();
    const other = new Database(file, { readonly: true });
    onTestFinished(() => void other.close());
    const seen = insert(1).then(() => other.prepare('SELECT count(*) FROM numbers').pluck().get());
    expect(await seen).toBe(1);
  });

  it('puts writes that arrive together into one commit', async () => {
    const { insert, statements, numbers } = startWriter();
    await Promise.all([1, 2, 3, 4, 5].map(insert));
    expect(statements.filter((sql) => sql === 'COMMIT')).toHaveLength(1);
    expect(numbers()).toEqual([1, 2, 3, 4, 5]);
  });

  /** Writes numbers up to one, a turn of the event loop for each: before that of the writer, as what sockets bring. */
  async function writeEachTurn(
    insert: (value: number) => Promise<number>,
    last: number,
  ): Promise<Promise<number>[]> {
    const writes: Promise<number>[] = [];
    for (let value = 1; value <= last; value++) {
      const nextTurn = new Promise((resolve) => setImmediate(resolve));
      writes.push(insert(value));
      await nextTurn;
    }
    return writes;
  }

  it('waits while each turn brings a further write, so that they share the commit', async () => {
    stopClock();
    const { insert, statements } = startWriter();
    await Promise.all(await writeEachTurn(insert, 50));
    expect(statements.filter((sql) => sql === 'COMMIT')).toHaveLength(1);
  });

  it('waits for one whole turn: what is left of the one in which a write came is none', async () => {
    stopClock();
    const { insert, statements } = startWriter();
    const first = insert(1);
    await new Promise((resolve) => setImmediate(resolve));
    await Promise.all([first, insert(2)]);
    expect(statements.filter((sql) => sql === 'COMMIT')).toHaveLength(1);
  });

  it('waits no longer than that where nothing else comes', async () => {
    stopClock();
    const { insert, numbers } = startWriter();
    const write = insert(1);
    for (let half = 0; half < 2; half++) await new Promise((resolve) => setImmediate(resolve));
    expect(numbers()).toEqual([1]);
    await write;
  });

  it('waits no longer than some milliseconds where writes arrive without an end', async () => {
    stopClock();
    const { insert, numbers } = startWriter();
    const writes = await writeEachTurn(insert, 50);
    expect(numbers()).toEqual([]);
    vi.advanceTimersByTime(5);
    writes.push(insert(51), insert(52));
    await new Promise((resolve) => setImmediate(resolve));
    expect(numbers()).toHaveLength(52);
    await Promise.all(writes);
  });

  it('hands over what writes left for the end of their commit once, without what those left that are undone', async () => {
    const { writer, db, numbers } = startWriter();
    const handed: (readonly number[])[] = [];
    const leave = writer.gather<number>((left) => {
      handed.push(left);
      for (const value of left) db.exec(`INSERT INTO numbers VALUES (${value})`);
    });
    const leaves = (value: number) => writer.write(() => leave(value));
    const undone = writer.write(() => {
      leave(2);
      throw new RangeError('changed my mind');
    });
    await Promise.allSettled([leaves(1), undone, leaves(3)]);
    await leaves(4);
    expect(handed).toEqual([[1, 3], [4]]);
    expect(numbers()).toEqual([1, 3, 4]);
  });

  it('fails all that share a commit whose end cannot be written, and leaves nothing of it to the next', async () => {
    const { writer, insert, db, numbers } = startWriter();
    const leave = writer.gather<number>((left) => {
      for (const value of left) db.exec(`INSERT INTO numbers VALUES (${value})`);
    });
    const results = await Promise.allSettled([insert(1), insert(2), writer.write(() => leave(1))]);
    for (const result of results) expect(result).toMatchObject({ reason: expect.any(StorageUnavailable) });
    expect(numbers()).toEqual([]);
    await insert(3);
    expect(numbers()).toEqual([3]);
  });

  it('carries out a write that begins in the very turn in which the last one ended', async () => {
    const { insert, numbers } = startWriter();
    for (let value = 0; value < 20; value++) await insert(value);
    expect(numbers()).toHaveLength(20);
  });

  it('undoes the writes of work that throws, and no others in the same commit', async () => {
    const { writer, insert, db, statements, numbers } = startWriter();
    const results = await Promise.allSettled([
      insert(1),
      writer.write(() => {
        db.exec('INSERT INTO numbers VALUES (2)');
        throw new RangeError('changed my mind');
      }),
      insert(3),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(results[1]).toMatchObject({ reason: expect.any(RangeError) });
    expect(numbers()).toEqual([1, 3]);
    expect(statements.filter((sql) => sql === 'COMMIT')).toHaveLength(1);
  });

  it('sets repeatable work apart only where some of it throws, and then runs all of it once more', async () => {
    const { writer, db, statements, numbers } = startWriter();
    const handed: (readonly number[])[] = [];
    const leave = writer.gather<number>((left) => void handed.push(left));
    const runs: number[] = [];
    const work = (value: number, throws: boolean) => () => {
      runs.push(value);
      db.exec(`INSERT INTO numbers VALUES (${value})`);
      leave(value);
      if (throws) throw new RangeError('changed my mind');
      return value;
    };
    const repeatable = (value: number, throws = false) =>
      writer.write(work(value, throws), { repeatable: true });

    expect(await Promise.all([repeatable(1), repeatable(2)])).toEqual([1, 2]);
    expect(statements.filter((sql) => sql.includes('SAVEPOINT'))).toEqual([]);
    expect(runs.splice(0)).toEqual([1, 2]);

    const results = await Promise.allSettled([repeatable(3), repeatable(4, true), repeatable(5)]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(results[1]).toMatchObject({ reason: expect.any(RangeError) });
    expect(runs).toEqual([3, 4, 3, 4, 5]);
    expect(handed).toEqual([
      [1, 2],
      [3, 5],
    ]);
    expect(numbers()).toEqual([1, 2, 3, 5]);
    expect(statements.filter((sql) => sql === 'COMMIT')).toHaveLength(2);
  });

  it('fails all that share a commit where repeatable work ends the whole transaction, and commits nothing', async () => {
    const { writer, insert, db, numbers } = startWriter();
    await insert(1);
    const repeatable = (sql: string) => writer.write(() => void db.exec(sql), { repeatable: true });
    const ending = 'INSERT OR ROLLBACK INTO numbers VALUES (1)';
    for (const order of [
      [ending, 'INSERT INTO numbers VALUES (2)'],
      ['INSERT INTO numbers VALUES (2)', ending],
    ]) {
      const results = await Promise.allSettled(order.map(repeatable));
      expect(results.every(({ status }) => status === 'rejected')).toBe(true);
      expect(numbers()).toEqual([1]);
    }
    await repeatable('INSERT INTO numbers VALUES (3)');
    expect(numbers()).toEqual([1, 3]);
  });

  it('says that the storage is unavailable to all that share a commit for which the disk is full, and goes on afterwards (T-169)', async () => {
    const { writer, db, numbers } = startWriter();
    db.exec('CREATE TABLE texts (value TEXT) STRICT');
    db.pragma(`max_page_count = ${db.pragma('page_count', { simple: true })}`);
    const repeatable = (sql: string) => writer.write(() => void db.exec(sql), { repeatable: true });
    const results = await Promise.allSettled([
      repeatable('INSERT INTO numbers VALUES (1)'),
      repeatable(`INSERT INTO texts VALUES ('${'x'.repeat(100_000)}')`),
    ]);
    for (const result of results) expect(result).toMatchObject({ reason: expect.any(StorageUnavailable) });
    expect(numbers()).toEqual([]);
    db.pragma('max_page_count = 100000');
    await repeatable('INSERT INTO numbers VALUES (2)');
    expect(numbers()).toEqual([2]);
  });

  it('runs work once that is not repeatable, whatever shares its commit', async () => {
    const { writer, insert, numbers } = startWriter();
    let runs = 0;
    const counted = writer.write(() => ++runs);
    const throwing = writer.write(
      () => {
        throw new RangeError('changed my mind');
      },
      { repeatable: true },
    );
    const results = await Promise.allSettled([insert(1), throwing, counted, insert(2)]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect(runs).toBe(1);
    expect(numbers()).toEqual([1, 2]);
  });

  it('fails all that share a commit where one of them ends the whole transaction, and commits nothing', async () => {
    const { writer, insert, db, numbers } = startWriter();
    await insert(1);
    const results = await Promise.allSettled([
      insert(2),
      writer.write(() => db.exec('INSERT OR ROLLBACK INTO numbers VALUES (1)')),
      insert(3),
    ]);
    expect(results.every(({ status }) => status === 'rejected')).toBe(true);
    expect(results[2]).toMatchObject({ reason: expect.any(StorageUnavailable) });
    expect(numbers()).toEqual([1]);
    await insert(4);
    expect(numbers()).toEqual([1, 4]);
  });

  it('says that the storage is unavailable while the disk is full, and goes on afterwards (T-169)', async () => {
    const { writer, db, insert, numbers } = startWriter();
    db.exec('CREATE TABLE texts (value TEXT) STRICT');
    const pages = db.pragma('page_count', { simple: true }) as number;
    db.pragma(`max_page_count = ${pages}`);
    const large = db.prepare('INSERT INTO texts VALUES (?)');
    await expect(writer.write(() => large.run('x'.repeat(100_000)))).rejects.toBeInstanceOf(
      StorageUnavailable,
    );
    expect(numbers()).toEqual([]);
    db.pragma(`max_page_count = ${pages + 1000}`);
    expect(await insert(1)).toBe(1);
    expect(await writer.write(() => large.run('x'.repeat(100_000)).changes)).toBe(1);
  });

  it('waits for a lock of another process, and the event loop does not (T-171)', async () => {
    const { file, insert, numbers } = startWriter();
    const holder = runProgram('test/storage/sqlite/hold-lock.ts', [file, '1000']);
    onTestFinished(() => holder.stop());
    await holder.waitFor('stdout', /locked/);
    let longestMs = 0;
    let last = performance.now();
    const watch = setInterval(() => {
      longestMs = Math.max(longestMs, performance.now() - last);
      last = performance.now();
    }, 5);
    const begun = performance.now();
    await Promise.all([insert(1), insert(2)]);
    clearInterval(watch);
    expect(performance.now() - begun).toBeGreaterThan(500);
    expect(longestMs).toBeLessThan(patience(200));
    expect(numbers()).toEqual([1, 2]);
  });

  it('is idle when nothing is left to write', async () => {
    const { writer, insert, numbers } = startWriter();
    const writes = Promise.all([insert(1), insert(2)]);
    await writer.idle();
    expect(numbers()).toEqual([1, 2]);
    await writes;
    await writer.idle();
  });
});

it('a file is still there until it is moved, replaced or removed, and again when it comes back (T-170)', () => {
  const file = join(testFolder(), 'gatehouse.db');
  writeFileSync(file, 'a');
  const check = createSameFileAssertion(file);
  writeFileSync(file, 'changed');
  expect(check).not.toThrow();
  renameSync(file, `${file}.away`);
  expect(check).toThrow(StorageUnavailable);
  copyFileSync(`${file}.away`, file);
  expect(check).toThrow(StorageUnavailable);
  renameSync(`${file}.away`, file);
  expect(check).not.toThrow();
  rmSync(file);
  expect(check).toThrow(StorageUnavailable);
});
