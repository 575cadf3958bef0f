import { describe, expect, it, onTestFinished } from 'vitest';
import { openPostgresStorage } from '../../../../src/storage/postgres/index.ts';
import { AnotherServer } from '../../../../src/storage/storage.ts';
import { session, wide } from '../../contract/mcp-session.ts';
import { describeNodes, settled } from '../../contract/nodes.ts';
import { connectTo, openNewDatabase, usePostgres } from '../subject.ts';

const server = usePostgres();

const node = (id: string, address = '10.0.0.1:1') => ({
  ...{ id, address, version: '1', startedAt: 1 },
  ...settled,
});

describe('PostgreSQL', () => describeNodes(() => openNewDatabase(server())));

it('a node renews its lease while another one writes for long', async () => {
  const url = await server().createDatabase();
  const storage = await openPostgresStorage({ url });
  onTestFinished(() => storage.close());
  await storage.nodes.beat(node('a'));
  const other = await connectTo(url);
  await other.query('BEGIN; UPDATE commit_order SET commits = commits + 1');
  const begun = performance.now();
  expect(await storage.nodes.beat(node('a'))).toBe(true);
  expect(performance.now() - begun).toBeLessThan(2_000);
  expect(await storage.nodes.list()).toHaveLength(1);
  await other.query('ROLLBACK');
});

it('a beat that is not committed yet is waited for before a node counts as dead', async () => {
  const url = await server().createDatabase();
  const storage = await openPostgresStorage({ url });
  onTestFinished(() => storage.close());
  const { nodes, mcpSessions } = storage;
  await mcpSessions.open(session('s'), wide);
  for (const id of ['a', 'b']) await nodes.beat(node(id));
  await nodes.claimSession('s', 'a');
  const other = await connectTo(url);
  await other.query(`UPDATE nodes SET beat_at = beat_at - interval '1 hour' WHERE id = 'a'`);
  await other.query(`BEGIN; UPDATE nodes SET beat_at = clock_timestamp() WHERE id = 'a'`);
  const claim = nodes.claimSession('s', 'b');
  const watching = await connectTo(url);
  const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  await expect.poll(async () => (await watching.query(waiting)).rowCount, { timeout: 4_000 }).toBe(1);
  await other.query('COMMIT');
  expect(await claim).toBe('taken');
  expect(await nodes.beat(node('a'))).toBe(true);
});

it('a server without a port for others is refused beside any other, and any other beside it, until its lease ends (FA-37)', async () => {
  const url = await server().createDatabase();
  const storage = await openPostgresStorage({ url });
  onTestFinished(() => storage.close());
  const { nodes } = storage;
  await nodes.beat(node('alone', 'web-1'));
  for (const address of ['web-2', '10.0.0.1:1'])
    await expect(nodes.beat(node('next', address))).rejects.toThrow(
      /^Another server runs on this database \(web-1\)\. Stop it first, or set cluster\.port for both/,
    );
  expect(await nodes.beat(node('alone', 'web-1'))).toBe(true);
  expect([await nodes.list(), await nodes.listAll()]).toEqual([[], []]);
  const other = await connectTo(url);
  await other.query(`UPDATE nodes SET beat_at = beat_at - interval '6 seconds'`);
  for (const id of ['next', 'beside']) await nodes.beat(node(id));
  await expect(nodes.beat(node('alone', 'web-1'))).rejects.toThrow(AnotherServer);
  for (const id of ['next', 'beside']) await nodes.leave(id);
  await nodes.beat(node('alone', 'web-1'));
});

it('a server without a port renews a lease that has ended, unless another server has begun one since', async () => {
  const url = await server().createDatabase();
  const storage = await openPostgresStorage({ url });
  onTestFinished(() => storage.close());
  const { nodes } = storage;
  const other = await connectTo(url);
  const endLeases = () => other.query(`UPDATE nodes SET beat_at = beat_at - interval '6 seconds'`);
  await nodes.beat(node('alone', 'web-1'));
  await endLeases();
  expect(await nodes.beat(node('alone', 'web-1'))).toBe(true);
  for (const address of ['web-2', '10.0.0.1:1']) {
    await endLeases();
    await nodes.beat(node('next', address));
    await nodes.leave('next');
    expect(await nodes.beat(node('alone', 'web-1'))).toBe(false);
  }
});

it('messages count as incomplete once after a failover, although their positions go on', async () => {
  const url = await server().createDatabase();
  const storage = await openPostgresStorage({ url });
  onTestFinished(() => storage.close());
  const { nodeMessages } = storage;
  await nodeMessages.post('a', Buffer.from('one'));
  expect((await nodeMessages.read(0, 'b')).isComplete).toBe(true);
  const before = nodeMessages.mark();
  await (await connectTo(url)).query('UPDATE commit_order SET commits = -1');
  await expect.poll(() => nodeMessages.mark()).not.toBe(before);
  const reads = [await nodeMessages.read(1, 'b'), await nodeMessages.read(1, 'b')];
  expect(reads.map(({ isComplete }) => isComplete)).toEqual([false, true]);
});
