// Flows of src/authorization-server/limiters.ts on PostgreSQL.
import pg from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createLimiters, exchangePauseMs } from '../../../src/authorization-server/limiters.ts';
import type { Limiters } from '../../../src/authorization-server/limits.ts';
import { WindowCounts } from '../../../src/collections/window-counts.ts';
import type { CounterStore } from '../../../src/storage/counters.ts';
import { openPostgresStorage } from '../../../src/storage/postgres/index.ts';
import { StorageUnavailable } from '../../../src/storage/storage.ts';
import { usePostgres } from '../../support/postgres/postgres.ts';

const server = usePostgres({ isOwn: true });
const keys = { audit: 'a secret of the installation' };
const limit = { times: 5, windowSeconds: 900 };

interface TestNode extends Limiters {
  warnings: string[];
}

/** Opens the limiters of a node. @param observe sees each exchange */
async function openNode(url: string, observe: () => void = () => undefined): Promise<TestNode> {
  const { counters, close } = await openPostgresStorage({ url });
  if (!counters) throw new Error('there are no counters');
  const observed: CounterStore = {
    ...counters,
    add(counts) {
      observe();
      return counters.add(counts);
    },
  };
  const warnings: string[] = [];
  const logger = { warn: (_: unknown, message: string) => void warnings.push(message) };
  const limiters = createLimiters({ counters: observed, keys, logger: logger as never });
  onTestFinished(async () => {
    await limiters.close();
    await close();
  });
  return { ...limiters, warnings };
}

async function openTwoNodes(): Promise<{ url: string; one: TestNode; other: TestNode }> {
  const url = await server().createDatabase();
  return { url, one: await openNode(url), other: await openNode(url) };
}

describe('limiters of guesses', () => {
  it('let as many through on all nodes together as on one, however they come', async () => {
    const { one, other } = await openTwoNodes();
    const here = one.ofGuesses('codes', limit);
    const there = other.ofGuesses('codes', limit);
    const waits = await Promise.all(
      Array.from({ length: 100 }, () => [here.take('ada'), there.take('ada')]).flat(),
    );
    expect(waits.filter((wait) => wait === 0)).toHaveLength(5);
    expect(Math.min(...waits.filter((wait) => wait > 0))).toBeGreaterThan(800);
    await there.giveBack('ada');
    expect(await here.take('ada')).toBe(0);
    expect(await here.take('ada')).toBeGreaterThan(800);
    await there.reset('ada');
    expect(await here.take('ada')).toBe(0);
  });

  it('count each name by itself, and store neither names nor keys in the clear', async () => {
    const { url, one } = await openTwoNodes();
    const once = { times: 1, windowSeconds: 900 };
    for (const name of ['codes', 'passkeys'])
      expect(await one.ofGuesses(name, once).take('ada@example.com')).toBe(0);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    onTestFinished(() => client.end());
    const { rows } = await client.query<{ key: string }>('SELECT key FROM counters');
    expect(rows).toHaveLength(2);
    for (const { key } of rows) expect(key).toMatch(/^[\w-]{43}$/);
  });

  it('fail if the attempt cannot be counted, and not if it cannot be given back', async () => {
    const { one } = await openTwoNodes();
    const limiter = one.ofGuesses('codes', limit);
    expect(await limiter.take('ada')).toBe(0);
    await server().stop();
    await expect(limiter.take('ada')).rejects.toThrow(StorageUnavailable);
    await limiter.giveBack('ada');
    await limiter.reset('ada');
    await server().start();
    for (let time = 1; time < limit.times; time++) expect(await limiter.take('ada')).toBe(0);
    expect(await limiter.take('ada')).toBeGreaterThan(0);
  });
});

describe('limiters of load', () => {
  it('learn the counts of other nodes with their first exchange, and say how long to wait', async () => {
    const { one, other } = await openTwoNodes();
    const here = one.ofLoad('requests', limit);
    const there = other.ofLoad('requests', limit);
    for (let time = 0; time < limit.times; time++) expect(await here.take('192.0.2.1')).toBe(0);
    expect(await here.take('192.0.2.1')).toBe(900);
    await vi.waitFor(async () => expect(await there.take('192.0.2.1')).toBeGreaterThan(800), 10_000);
    expect([await there.wait('192.0.2.1'), await there.wait('192.0.2.2')]).toEqual([900, 0]);
    expect([there.isIdle(), other.ofLoad('requests', limit).isIdle()]).toEqual([false, true]);
  });

  it('make room for one that is given back', async () => {
    const { one } = await openTwoNodes();
    const limiter = one.ofLoad('requests', { times: 1, windowSeconds: 900 });
    expect([await limiter.take('a'), await limiter.take('a')]).toEqual([0, 900]);
    await limiter.giveBack('a');
    expect([await limiter.take('a'), await limiter.take('a')]).toEqual([0, 900]);
  });

  it('exchange their counts at most once a second, whatever arrives', async () => {
    const exchanges: number[] = [];
    const node = await openNode(await server().createDatabase(), () => exchanges.push(performance.now()));
    const limiter = node.ofLoad('requests', { times: 100_000, windowSeconds: 900 });
    let taken = 0;
    await vi.waitFor(
      async () => {
        for (let time = 0; time < 100; time++, taken++) await limiter.take(`address ${time % 10}`);
        expect(exchanges.length).toBeGreaterThan(3);
      },
      { timeout: 20_000, interval: 1 },
    );
    expect(taken).toBeGreaterThan(1_000);
    const pauses = exchanges.slice(1).map((at, index) => at - (exchanges[index] ?? 0));
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(exchangePauseMs - 5);
  });

  it('share the windows of other counts, and the last counts of a node that stops', async () => {
    const { one, other } = await openTwoNodes();
    const createCounts = (node: Limiters) =>
      new WindowCounts(60_000, () => performance.now(), node.sharing('calls'));
    const [here, there] = [createCounts(one), createCounts(other)];
    for (let time = 0; time < 7; time++) expect(here.take('ada', 'echo', 10)).toBe(0);
    await one.close();
    expect(there.take('ada', 'echo', 10)).toBe(0);
    await vi.waitFor(() => expect(there.wait('ada', 'echo', 8)).toBeGreaterThan(50_000), 10_000);
    expect([there.take('ada', 'echo', 10), there.take('ada', 'echo', 10)]).toEqual([0, 0]);
    expect(there.take('ada', 'echo', 10)).toBeGreaterThan(50_000);
    expect(there.take('grace', 'echo', 10)).toBe(0);
  });

  it('count on their node alone while the database is away, and exchange what they counted once it is back', async () => {
    const { one, other } = await openTwoNodes();
    const here = one.ofLoad('requests', limit);
    const there = other.ofLoad('requests', limit);
    expect(await here.take('a')).toBe(0);
    await server().stop();
    for (let time = 1; time < limit.times; time++) expect(await here.take('a')).toBe(0);
    expect(await here.take('a')).toBeGreaterThan(0);
    await vi.waitFor(() => expect(one.warnings).toHaveLength(1), 20_000);
    await server().start();
    let taken = 0;
    await vi.waitFor(
      async () => {
        if ((await there.take('a')) === 0) taken++;
        expect(await there.wait('a')).toBeGreaterThan(0);
      },
      { timeout: 20_000, interval: 1_000 },
    );
    expect(taken).toBeLessThan(limit.times);
    expect(one.warnings).toEqual(['limits of load count on this node alone until the database is back']);
  });
});

it('Limiters without counters are those of one process', async () => {
  const limiters = createLimiters({ counters: undefined, keys, logger: { warn: () => undefined } });
  const limiter = limiters.ofGuesses('codes', { times: 1, windowSeconds: 900 });
  expect([await limiter.take('a'), await limiter.take('a')]).toEqual([0, 900]);
  expect(limiters.sharing('calls')).toBeUndefined();
  await limiters.close();
});
