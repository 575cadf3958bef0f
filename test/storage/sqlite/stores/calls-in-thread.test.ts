import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { CallStore } from '../../../../src/storage/calls.ts';
import { createCallStoreInThread } from '../../../../src/storage/sqlite/stores/calls-in-thread.ts';
import { StorageUnavailable } from '../../../../src/storage/storage.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { auditKey, calls, startMs } from '../../contract/call.ts';
import { append, type CallPlace, describeCalls, verify } from '../../contract/calls.ts';

const keys = { audit: auditKey };

function openStore(program?: URL): { store: CallStore; file: string } {
  const file = join(testFolder(), 'gatehouse.calls.db');
  const store = createCallStoreInThread(file, keys, program);
  onTestFinished(() => store.close());
  return { store, file };
}

function createPlace(): CallPlace {
  const file = join(testFolder(), 'gatehouse.calls.db');
  return {
    open: () => createCallStoreInThread(file, keys),
    execute(sql) {
      const db = new Database(file);
      db.exec(sql);
      db.close();
    },
  };
}

describe('SQLite in a thread', () => describeCalls(createPlace));

it('says in this thread why the ledger cannot be used, and works again later', async () => {
  const { store, file } = openStore();
  writeFileSync(file, 'this is no database, though it is long enough to be taken for one'.repeat(100));
  await expect(append(store, calls(1))).rejects.toMatchObject({
    constructor: StorageUnavailable,
    message: 'the call ledger cannot be used at the moment',
    cause: { message: 'file is not a database', code: 'SQLITE_NOTADB' },
  });
  writeFileSync(file, '');
  await append(store, calls(2));
  expect(await store.list({}, 10)).toHaveLength(2);
});

it('is unavailable, and closes, if it may have no thread', async () => {
  const store = openStore(new URL('data:,not a program')).store;
  await expect(store.ends()).rejects.toThrow(StorageUnavailable);
  await store.close();
});

it('opens its file again after it was closed', async () => {
  const { store } = openStore();
  await append(store, calls(1));
  await store.close();
  await store.close();
  expect(await store.list({}, 10)).toHaveLength(1);
});

it('stores a batch once if its thread ends, before or after the commit', async () => {
  const { store } = openStore(new URL('../ending-call-thread.ts', import.meta.url));
  let failures = 0;
  for (let batch = 1; batch <= 12; batch++) {
    const given = { calls: calls(2, (number) => ({ requestId: `${batch}-${number}` })), lost: 0 };
    for (let isStored = false; !isStored; )
      try {
        await store.append(given, startMs, true);
        isStored = true;
      } catch (error) {
        expect(error).toBeInstanceOf(StorageUnavailable);
        failures++;
      }
  }
  expect(failures).toBeGreaterThan(3);
  const rows = await store.read({}, 100);
  expect(rows.map(({ requestId }) => requestId)).toEqual(
    Array.from({ length: 12 }, (_, at) => [`${at + 1}-1`, `${at + 1}-2`]).flat(),
  );
  expect(await verify(store)).toEqual([]);
});
