import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openPostgresStorage } from '../../../../src/storage/postgres/index.ts';
import { type Storage, StorageUnavailable } from '../../../../src/storage/storage.ts';
import { describeCounters } from '../../contract/counters.ts';
import { openNewDatabase, usePostgres } from '../subject.ts';

const server = usePostgres({ isOwn: true });
describe('PostgreSQL', () => describeCounters(() => openNewDatabase(server())));

async function openNode(url: string): Promise<Storage & Required<Pick<Storage, 'counters'>>> {
  const storage = await openPostgresStorage({ url });
  onTestFinished(() => storage.close());
  if (!storage.counters) throw new Error('there are no counters');
  return { ...storage, counters: storage.counters };
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

const limit = { times: 10, windowSeconds: 900 };

describe('counters of PostgreSQL', () => {
  it('are one count for all nodes', async () => {
    const url = await server().createDatabase();
    const nodes = [await openNode(url), await openNode(url)];
    const waits = await Promise.all(
      Array.from({ length: 100 }, () => nodes.map(({ counters }) => counters.take('a', limit))).flat(),
    );
    expect(waits.filter((waitMs) => waitMs === 0)).toHaveLength(10);
  });

  it('neither wait for a write of any node nor keep one waiting', async () => {
    const url = await server().createDatabase();
    const { counters, notes, clients } = await openNode(url);
    const payload = Buffer.from('robot');
    await clients.put({ id: 'robot', payload, createdAt: 0 });
    const other = await connect(url);
    await other.query('BEGIN; UPDATE commit_order SET commits = commits + 1');
    expect(await counters.take('a', limit)).toBe(0);
    await other.query("ROLLBACK; BEGIN; UPDATE counters SET points = points WHERE key = 'a'");
    const held = counters.take('a', limit);
    await expect(notes.add('robot', 'written', 0)).resolves.toMatchObject({ text: 'written' });
    await other.query('ROLLBACK');
    expect(await held).toBe(0);
  });

  it('are swept once their window has ended', async () => {
    const url = await server().createDatabase();
    const { counters, sweepExpired } = await openNode(url);
    const client = await connect(url);
    for (const key of ['ended', 'live']) await counters.take(key, limit);
    await client.query("UPDATE counters SET ends_at = now() - interval '1 s' WHERE key = 'ended'");
    expect(await sweepExpired(0)).toBe(1);
    expect((await client.query('SELECT key FROM counters')).rows).toEqual([{ key: 'live' }]);
  });

  it('report a database that is away as unavailable, and count again when it is back', async () => {
    const url = await server().createDatabase();
    const { counters } = await openNode(url);
    await counters.take('a', limit);
    await server().stop();
    await expect(counters.take('a', limit)).rejects.toThrow(StorageUnavailable);
    await expect(counters.add([{ key: 'a', points: 1, windowSeconds: 900 }])).rejects.toThrow(
      'the database cannot be written at the moment',
    );
    await server().start();
    expect((await counters.add([{ key: 'a', points: 1, windowSeconds: 900 }])).get('a')?.points).toBe(2);
  });
});
