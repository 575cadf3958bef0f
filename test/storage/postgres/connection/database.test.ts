import { describe, expect, it, onTestFinished } from 'vitest';
import { openPool, openTransactionPool } from '../../../../src/storage/postgres/connection/database.ts';
import { StorageFault, StorageUnavailable } from '../../../../src/storage/storage.ts';
import { usePostgres } from '../../../support/postgres/postgres.ts';

const server = usePostgres({ isOwn: true });

async function open(pooled = false) {
  const db = openPool({ url: await server().createDatabase(), pooled });
  onTestFinished(() => db.close());
  return db;
}

async function openTransactions() {
  const db = openTransactionPool({ url: await server().createDatabase() });
  onTestFinished(() => db.close());
  return db;
}

describe('a statement', () => {
  it.each([false, true])(
    'gives numbers, bytes, booleans and null as they are (behind a pooler: %s)',
    async (pooled) => {
      const db = await open(pooled);
      const row = await db.row(
        'SELECT $1::bigint AS n, $2::bytea AS b, $3::boolean AS t, $4::text AS x, $5::text[] AS l',
        [...[2 ** 53 - 1, Uint8Array.of(0, 255), true, undefined], ['a', 'b,"']],
      );
      expect(row).toEqual({ n: 2 ** 53 - 1, b: Buffer.from([0, 255]), t: true, x: null, l: ['a', 'b,"'] });
    },
  );

  it('refuses a number that JavaScript cannot hold exactly', async () => {
    const db = await open();
    await expect(db.row('SELECT 9007199254740993::bigint')).rejects.toThrow('beyond 2^53');
  });

  it('writes U+FFFD in place of NUL, which PostgreSQL cannot hold, also in lists', async () => {
    const db = await open();
    expect(await db.row('SELECT $1::text AS t, $2::text[] AS l', ['a\0b', ['\0']])).toEqual({
      t: 'a\uFFFDb',
      l: ['\uFFFD'],
    });
  });

  it('is unavailable while the server is, and a fault of its own is no outage', async () => {
    const db = await open();
    await expect(db.row('SELECT 1 / 0')).rejects.toMatchObject({ code: '22012' });
    await server().stop();
    await expect(db.row('SELECT 1')).rejects.toThrow(StorageUnavailable);
    await server().start();
    expect(await db.row('SELECT 1 AS one')).toEqual({ one: 1 });
  });
});

describe('a transaction beside the writes of the installation', () => {
  it('takes effect whole or not at all, and its settings end with it', async () => {
    const db = await openTransactions();
    await db.run('CREATE TABLE things (name text PRIMARY KEY)');
    const insert = 'INSERT INTO things VALUES ($1)';
    const setting = 'SHOW synchronous_commit';
    const seen = await db.transact('SET LOCAL synchronous_commit = off', async (tx) => {
      await tx.run(insert, ['a']);
      return tx.row(setting);
    });
    expect(seen).toEqual({ synchronous_commit: 'off' });
    expect(await db.row(setting)).toEqual({ synchronous_commit: 'on' });
    const own = new Error('of the work');
    const failing = db.transact('', async (tx) => {
      await tx.run(insert, ['b']);
      throw own;
    });
    await expect(failing).rejects.toBe(own);
    const doubled = db.transact('', (tx) =>
      Promise.all(['c', 'a', 'd'].map((name) => tx.run(insert, [name]))),
    );
    await expect(doubled).rejects.toMatchObject({ code: '23505' });
    expect(await db.rows('SELECT name FROM things')).toEqual([{ name: 'a' }]);
  });

  it('is unavailable if its connection is lost, and the next one is not', async () => {
    const db = await openTransactions();
    const lost = db.transact('', async (tx) => {
      const own = await tx.row<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      await server().query(`SELECT pg_terminate_backend(${own?.pid})`);
      return tx.row('SELECT 1 AS one');
    });
    await expect(lost).rejects.toThrow(StorageUnavailable);
    expect(await db.transact('', (tx) => tx.row('SELECT 2 AS two'))).toEqual({ two: 2 });
  });
});

it('a URL of another database is refused before anything is tried', () => {
  expect(() => openPool({ url: 'mysql://localhost/x' })).toThrow(StorageFault);
});

it('a URL of another machine says how the connection is protected', async () => {
  for (const url of ['postgres://db.internal/x', 'postgres://localhost/x?host=db.internal'])
    expect(() => openPool({ url })).toThrow(/sslmode=verify-full/);
  for (const url of [
    'postgres://db.internal/x?sslmode=disable',
    'postgres://localhost/x',
    'postgres:///x?host=/run',
  ])
    await openPool({ url }).close();
});
