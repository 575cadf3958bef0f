import { chmodSync, existsSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { callColumns } from '../../../../src/storage/calls.ts';
import { createCallStore } from '../../../../src/storage/sqlite/stores/calls.ts';
import { StorageUnavailable } from '../../../../src/storage/storage.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { runProgram } from '../../../support/program.ts';
import { auditKey, calls, startMs } from '../../contract/call.ts';
import { append, type CallPlace, describeCalls, verify } from '../../contract/calls.ts';
import { describeExports } from '../../contract/exports.ts';
import { openNewDatabase } from '../subject.ts';

function newFile(): string {
  return join(testFolder(), 'gatehouse.calls.db');
}

function openStore(file: string) {
  const store = createCallStore(file, { audit: auditKey });
  onTestFinished(() => store.close());
  return store;
}

/** Opens the file beside the ledger, for the running test. */
function openBeside(file: string): Database.Database {
  const db = new Database(file);
  onTestFinished(() => void db.close());
  return db;
}

function createPlace(): CallPlace {
  const file = newFile();
  return {
    open: () => createCallStore(file, { audit: auditKey }),
    execute: (sql) => void openBeside(file).exec(sql),
  };
}

describe('SQLite', () => {
  describeCalls(createPlace);
  describeExports(openNewDatabase);
});

describe('the call ledger on SQLite', () => {
  it('is created at the first use, with its log, for its owner alone (mode 0600)', async () => {
    const file = newFile();
    const store = openStore(file);
    expect(existsSync(file)).toBe(false);
    await append(store, calls(1));
    for (const suffix of ['', '-wal', '-shm']) expect(statSync(`${file}${suffix}`).mode & 0o777).toBe(0o600);
    await store.close();
    chmodSync(file, 0o644);
    await store.ends();
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('is unavailable if its file is damaged, and works again once the file was moved away', async () => {
    const file = newFile();
    const store = openStore(file);
    await append(store, calls(3));
    await store.close();
    writeFileSync(file, 'this is no database, though it is long enough to be taken for one'.repeat(100));
    await expect(append(store, calls(1))).rejects.toThrow(StorageUnavailable);
    await expect(store.list({}, 1)).rejects.toThrow('the call ledger cannot be used at the moment');
    renameSync(file, `${file}.damaged`);
    await append(store, calls(2));
    expect(await store.list({}, 10)).toHaveLength(2);
    expect(await verify(store)).toEqual([]);
  });

  it('leaves all calls in a file that is moved away while it is open, and begins a new one', async () => {
    const file = newFile();
    const store = openStore(file);
    const other = openStore(file);
    await append(store, calls(3));
    await append(other, calls(1));
    renameSync(file, `${file}.moved`);
    await append(store, calls(2));
    await append(other, calls(2));
    await append(store, calls(1));
    expect((await store.read({}, 10)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
    expect(await verify(store)).toEqual([]);
    expect(await verify(other)).toEqual([]);
    const moved = openStore(`${file}.moved`);
    expect(await moved.list({}, 10)).toHaveLength(4);
    expect(await verify(moved)).toEqual([]);
  });

  it('never reads the log of a lost file into a new one', async () => {
    const file = newFile();
    const killed = runProgram('test/storage/sqlite/append-calls.ts', [file, 'ada', '1000000']);
    await killed.waitFor('stdout', /ready/);
    killed.process.stdin?.write('begin\n');
    await killed.waitFor('stdout', /stored/);
    killed.process.kill('SIGKILL');
    await killed.ended;
    renameSync(file, `${file}.moved`);
    const store = openStore(file);
    expect(await store.list({}, 10)).toEqual([]);
    await append(store, calls(1));
    expect(await verify(store)).toEqual([]);
    expect(statSync(`${file}-wal.left`).size).toBeGreaterThan(0);
  });

  it('is unavailable while another process holds its file, and not longer', async () => {
    const file = newFile();
    const store = openStore(file);
    await append(store, calls(1));
    const other = openBeside(file);
    other.exec('BEGIN IMMEDIATE');
    await expect(append(store, calls(1))).rejects.toThrow(StorageUnavailable);
    expect(await store.list({}, 10)).toHaveLength(1);
    other.exec('ROLLBACK');
    await append(store, calls(1));
    expect(await verify(store)).toEqual([]);
  });

  it('is unavailable to an older program after an upgrade, and is not changed by it', async () => {
    const file = newFile();
    const store = openStore(file);
    await append(store, calls(1));
    await store.close();
    openBeside(file).pragma('user_version = 9001');
    await expect(append(store, calls(1))).rejects.toMatchObject({
      name: 'StorageUnavailable',
      cause: { message: expect.stringContaining('The database is of schema 9001') },
    });
  });

  it('verifies after an upgrade from the first schema, and names itself then', async () => {
    const file = newFile();
    const store = openStore(file);
    await append(
      store,
      calls(3, (number) => (number === 2 ? { arguments: Uint8Array.of(1) } : {})),
    );
    await store.close();
    openBeside(file).exec(`DROP TABLE call_ledger; CREATE TABLE call_exports (name TEXT);
      ALTER TABLE calls DROP COLUMN actor; ALTER TABLE calls DROP COLUMN generation;
      ALTER TABLE calls DROP COLUMN wait_ms; PRAGMA user_version = 1`);
    expect(await verify(store)).toEqual([]);
    await append(
      store,
      calls(1, () => ({ actor: '["proxy"]', waitMs: 0 })),
    );
    expect(await verify(store)).toEqual([]);
    const { ledger } = await store.readNext({ ledger: '', calls: 0 }, 1);
    expect(ledger).toMatch(/^[0-9a-f]{16}$/);
  });

  it('is one chain of several processes, none of whose calls is lost or doubled', async () => {
    const file = newFile();
    const programs = ['ada', 'bob'].map((account) =>
      runProgram('test/storage/sqlite/append-calls.ts', [file, account, '50']),
    );
    await Promise.all(programs.map((program) => program.waitFor('stdout', /ready/)));
    for (const program of programs) program.process.stdin?.write('begin\n');
    expect(await Promise.all(programs.map(({ ended }) => ended))).toEqual([0, 0]);
    const store = openStore(file);
    const rows = await store.read({}, 1_000);
    expect(rows.map(({ seq }) => seq)).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
    for (const account of ['ada', 'bob'])
      expect(rows.filter((row) => row.account === account).map(({ requestId }) => requestId)).toEqual(
        Array.from({ length: 50 }, (_, batch) => [`request-${batch}`, `request-${batch}`]).flat(),
      );
    expect(await verify(store)).toEqual([]);
  });

  it('names each call after its names were dropped by a clock that was ahead and was set back', async () => {
    const store = openStore(newFile());
    await append(store, calls(1), startMs);
    const aheadMs = startMs + 100 * 86_400_000;
    const retention = { nowMs: aheadMs, before: aheadMs - 86_400_000, maxRows: 100, hoursBefore: 0 };
    expect(await store.prune(retention)).toBe(1);
    await append(
      store,
      calls(2, (number) => ({ account: number === 1 ? 'bob' : 'ada' })),
      startMs,
    );
    expect(await store.read({}, 10)).toMatchObject([
      { account: 'bob', client: 'app', target: 'add_note' },
      { account: 'ada', client: 'app', target: 'add_note' },
    ]);
    expect(await verify(store)).toEqual([]);
  });

  it('has a column for each member of a call, and no other', async () => {
    const file = newFile();
    await append(openStore(file), []);
    const columns = openBeside(file).prepare("SELECT name FROM pragma_table_info('calls')").pluck().all();
    expect(columns.sort()).toEqual(Object.values(callColumns).sort());
  });
});
