import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  createNodeBus,
  maxMessageBytes,
  maxMessagesPerSecond,
  type NodeBus,
  postToNodes,
} from '../../src/cluster/bus.ts';
import { openPostgresStorage } from '../../src/storage/postgres/index.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { oneSecondMs } from '../support/one-second.ts';
import { usePostgres } from '../support/postgres/postgres.ts';

const server = usePostgres({ isOwn: true });
const secret = 'a secret of the installation';

interface TestNode {
  bus: NodeBus;
  storage: Storage;
  /** Messages that it heard, with their ages. */
  heard: { data: unknown; ageMs: number }[];
  gaps: number;
  warnings: string[];
  debugged: string[];
  /** Comes back after a time in which others took it for dead. */
  comeBack(): void;
}

/** Opens a node that listens for messages of one kind, with connections of its own. */
async function openNode(
  url: string,
  id: string,
  { hasOthers = true, key = secret }: { hasOthers?: boolean; key?: string } = {},
): Promise<TestNode> {
  const storage = await openPostgresStorage({ url });
  const warnings: string[] = [];
  const debugged: string[] = [];
  const logger = {
    warn: (...line: unknown[]) => void warnings.push(String(line.at(-1))),
    debug: (...line: unknown[]) => void debugged.push(JSON.stringify(line)),
  };
  const bus = createNodeBus({ store: storage.nodeMessages, secret: key, logger: logger as never });
  let comeBack: () => void = () => undefined;
  const node: TestNode = {
    ...{ bus, storage, heard: [], gaps: 0, warnings, debugged },
    comeBack: () => comeBack(),
  };
  bus.on('change', 'notes', (data, ageMs) => void node.heard.push({ data, ageMs }));
  bus.onGap(() => node.gaps++);
  await bus.join({
    id,
    hasOthers: async () => hasOthers,
    onBack(callback) {
      comeBack = callback;
    },
  });
  onTestFinished(async () => {
    await bus.close();
    await storage.close();
  });
  return node;
}

async function openTwo(): Promise<{ url: string; here: TestNode; there: TestNode }> {
  const url = await server().createDatabase();
  return { url, here: await openNode(url, 'here'), there: await openNode(url, 'there') };
}

async function countRows(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ count: string }>('SELECT count(*) FROM node_messages');
  await client.end();
  return Number(rows[0]?.count);
}

const dataOf = ({ heard }: TestNode): unknown[] => heard.map(({ data }) => data);

describe('the bus of nodes', () => {
  it('carries a message to the other node within a second, in order, and not back', async () => {
    const { url, here, there } = await openTwo();
    const begunAt = performance.now();
    for (const data of [1, { uri: 'note://ada' }, 3]) here.bus.post('change', 'notes', data);
    await expect.poll(() => dataOf(there), { interval: 10 }).toEqual([1, { uri: 'note://ada' }, 3]);
    expect(performance.now() - begunAt).toBeLessThan(oneSecondMs);
    for (const { ageMs } of there.heard) expect(ageMs).toBeLessThan(oneSecondMs);
    there.bus.post('change', 'notes', 'an answer');
    await expect.poll(() => dataOf(here)).toEqual(['an answer']);
    expect(dataOf(there)).toHaveLength(3);
    expect(await countRows(url)).toBe(2);
  });

  it('writes what arrives together once, and equal messages once', async () => {
    const { url, here, there } = await openTwo();
    for (let time = 0; time < 30; time++) here.bus.post('change', 'notes', time % 2);
    await expect.poll(() => dataOf(there)).toEqual([0, 1]);
    expect(await countRows(url)).toBe(1);
  });

  it('stores nothing in the clear, and nothing at all if there is no other node', async () => {
    const url = await server().createDatabase();
    const alone = await openNode(url, 'alone', { hasOthers: false });
    alone.bus.post('change', 'notes', { uri: 'note://ada' });
    await alone.bus.close();
    expect(await countRows(url)).toBe(0);
    const { url: shared, here, there } = await openTwo();
    here.bus.post('change', 'notes', { uri: 'note://ada' });
    await expect.poll(() => dataOf(there)).toHaveLength(1);
    const { messages } = await there.storage.nodeMessages.read(0, 'nobody');
    expect(messages).toHaveLength(1);
    for (const { payload } of messages) expect(Buffer.from(payload).toString('latin1')).not.toContain('ada');
    expect(await countRows(shared)).toBe(1);
  });

  it('tells of a gap in place of a message that is too large, or that exceeds the number of a second', async () => {
    const { here, there } = await openTwo();
    here.bus.post('change', 'notes', 'x'.repeat(maxMessageBytes));
    await expect.poll(() => there.gaps, { timeout: 3_000 }).toBe(1);
    expect(there.heard).toEqual([]);
    for (let index = 0; index < maxMessagesPerSecond * 3; index++) here.bus.post('change', 'notes', index);
    await expect.poll(() => there.gaps, { timeout: 3_000 }).toBe(2);
    expect(there.heard.length).toBeGreaterThan(0);
    expect(there.heard.length).toBeLessThanOrEqual(maxMessagesPerSecond);
  });

  it('tells of a gap once in a second, however long there is too much', async () => {
    const { here, there } = await openTwo();
    const begunAt = performance.now();
    for (let round = 0; round < 15; round++) {
      for (let index = 0; index < maxMessagesPerSecond; index++)
        here.bus.post('change', 'notes', `${round} ${index}`);
      await sleep(100);
    }
    await expect.poll(() => there.gaps, { timeout: 3_000 }).toBeGreaterThan(0);
    await sleep(1_200);
    expect(there.gaps).toBeLessThanOrEqual((performance.now() - begunAt) / 1_000);
  });

  it('ignores a message of a kind that only a newer node knows, with a line in the debug log', async () => {
    const { here, there } = await openTwo();
    here.bus.post('invented', 'later', { a: 1 });
    here.bus.post('change', 'notes', 'known');
    await expect.poll(() => dataOf(there)).toEqual(['known']);
    expect(there.debugged.join()).toContain('invented');
    expect([there.gaps, there.warnings]).toEqual([0, []]);
  });

  it('counts what it cannot open and warns of it once, and reads on', async () => {
    const { url, here, there } = await openTwo();
    const stranger = await openNode(url, 'stranger', { key: 'another secret' });
    for (const data of ['one', 'two']) {
      stranger.bus.post('change', 'notes', data);
      await expect.poll(() => there.bus.unreadable).toBe(data === 'one' ? 1 : 2);
    }
    here.bus.post('change', 'notes', 'right');
    await expect.poll(() => dataOf(there)).toEqual(['right']);
    expect(there.warnings).toEqual([expect.stringContaining('could not be opened')]);
  });

  it('keeps what is posted while the database is away, and what it could not read meanwhile', async () => {
    const { here, there } = await openTwo();
    here.bus.post('change', 'notes', 'before');
    await expect.poll(() => dataOf(there)).toEqual(['before']);
    await server().stop();
    here.bus.post('change', 'notes', 'during');
    await server().start();
    await expect.poll(() => dataOf(there), { timeout: 20_000 }).toEqual(['before', 'during']);
    here.bus.post('change', 'notes', 'after');
    await expect.poll(() => dataOf(there), { timeout: 5_000 }).toEqual(['before', 'during', 'after']);
    expect(there.gaps).toBe(0);
  });

  it('finds out that messages were removed unread, and tells so: everything counts as changed', async () => {
    const { url, here, there } = await openTwo();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    onTestFinished(() => client.end());
    // In one transaction, as if the other node had been away for the time that rows are stored.
    await client.query(`BEGIN; UPDATE node_message_ends SET last_position = last_position + 2;
      INSERT INTO node_messages (position, node_id, payload) VALUES (1, 'here', ''), (2, 'here', '');
      DELETE FROM node_messages; COMMIT`);
    await expect.poll(() => there.gaps).toBe(1);
    expect(there.warnings).toEqual([expect.stringContaining('are lost')]);
    here.bus.post('change', 'notes', 'after');
    await expect.poll(() => dataOf(there)).toEqual(['after']);
    expect(there.gaps).toBe(1);
    there.comeBack();
    expect(there.gaps).toBe(2);
  });

  it('goes on if one listener fails, and tells no listener that has ended', async () => {
    const { here, there } = await openTwo();
    const end = there.bus.on('change', 'notes', () => {
      throw new Error('broken');
    });
    here.bus.post('change', 'notes', 1);
    await expect.poll(() => dataOf(there)).toEqual([1]);
    await expect.poll(() => there.warnings.length).toBe(1);
    end();
    here.bus.post('change', 'notes', 2);
    await expect.poll(() => dataOf(there)).toEqual([1, 2]);
    expect(there.warnings).toHaveLength(1);
  });

  it('takes a message of a process that is no node, if nodes are alive', async () => {
    const { url, there } = await openTwo();
    await postToNodes(there.storage, secret, 'change', 'notes', 'to nobody');
    expect(await countRows(url)).toBe(0);
    await there.storage.nodes.beat({
      ...{ id: 'there', address: '10.0.0.1:1', version: '1', startedAt: 1 },
      ...{ settingsHash: '', refusesFile: false },
    });
    await postToNodes(there.storage, secret, 'change', 'notes', 'of a command');
    await expect.poll(() => dataOf(there)).toEqual(['of a command']);
  });
});
