import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { joinCluster, serveAlone } from '../../src/cluster/node.ts';
import type { NodeStore } from '../../src/storage/nodes.ts';
import { openSqliteStorage } from '../../src/storage/sqlite/index.ts';
import { AnotherServer, StorageUnavailable } from '../../src/storage/storage.ts';
import { testFolder } from '../client/support/folder.ts';
import { session, wide } from '../storage/contract/mcp-session.ts';
import { settled } from '../storage/contract/nodes.ts';

const now = () => Math.floor(Date.now() / 1000);

/** A store of nodes in a real database, which a test can cut off, or in which another server has taken over. */
async function startStore(...keys: string[]) {
  const file = `${testFolder()}/gatehouse.db`;
  const storage = openSqliteStorage(file);
  onTestFinished(() => storage.close());
  for (const key of keys) await storage.mcpSessions.open(session(key), wide);
  const line = {
    ...{ isCut: false, isSilent: false, hasRival: false },
    silence: Promise.withResolvers<boolean>(),
  };
  const store: NodeStore = {
    ...storage.nodes,
    beat(node) {
      if (line.isSilent) return line.silence.promise;
      if (line.hasRival) return Promise.reject(new AnotherServer('web-2', 'its lease'));
      return line.isCut ? Promise.reject(new Error('cut off')) : storage.nodes.beat(node);
    },
  };
  return { store, line, storage, file };
}

function createTestLogger() {
  const warnings: unknown[] = [];
  const note = (...line: unknown[]): void => void warnings.push(line);
  return { logger: { info: () => undefined, warn: note, error: note }, warnings };
}

async function join(store: NodeStore, address: string, settingsHash = settled.settingsHash) {
  const { logger, warnings } = createTestLogger();
  const node = await joinCluster({ store, address, version: '1', settingsHash, now, logger });
  onTestFinished(() => node.leave().catch(() => undefined));
  return { node, warnings };
}

describe('a node', () => {
  it('knows which other node serves a session, and gives its own up when it leaves', async () => {
    const { store } = await startStore('s', 't');
    const [{ node: here }, { node: there }] = [
      await join(store, '10.0.0.1:1'),
      await join(store, '10.0.0.2:2'),
    ];
    expect(await here.sessions.claim('s')).toBeUndefined();
    expect(await there.sessions.claim('s')).toBe(here.id);
    expect(await there.sessions.claim('no such session')).toBeUndefined();
    expect(await there.ownerOf('s', 'ann')).toMatchObject({ id: here.id, address: '10.0.0.1:1' });
    expect(await here.ownerOf('s', 'ann')).toBeUndefined();
    expect(await here.ownerOf('t', 'ann')).toBeUndefined();
    expect(await there.find(here.id)).toMatchObject({ address: '10.0.0.1:1' });
    expect(await there.find(there.id)).toBeUndefined();
    expect(await there.find('nobody')).toBeUndefined();
    here.sessions.release('s');
    await expect.poll(() => there.sessions.claim('s')).toBeUndefined();
    await there.leave();
    await here.sessions.claim('s');
  });

  it('asks again for an owner that could not be reached', async () => {
    const { store } = await startStore('s');
    const [{ node: here }, { node: there }] = [
      await join(store, '10.0.0.1:1'),
      await join(store, '10.0.0.2:2'),
    ];
    await there.sessions.claim('s');
    expect((await here.ownerOf('s', 'ann'))?.id).toBe(there.id);
    await there.leave();
    here.forgetOwner('s');
    expect(await here.ownerOf('s', 'ann')).toBeUndefined();
  });

  it('asks the database for few made-up sessions of one sender, and still finds those of others', async () => {
    const { store } = await startStore('s');
    let asked = 0;
    const counting: NodeStore = {
      ...store,
      ownerOf(key) {
        asked++;
        return store.ownerOf(key);
      },
    };
    const [{ node: here }, { node: there }] = [
      await join(counting, '10.0.0.1:1'),
      await join(store, '10.0.0.2:2'),
    ];
    await there.sessions.claim('s');
    for (let at = 0; at < 100; at++) expect(await here.ownerOf(`made up ${at}`, 'eve')).toBeUndefined();
    expect(asked).toBeGreaterThan(10);
    // Each second more are asked for: the loop takes far less than two.
    expect(asked).toBeLessThan(70);
    expect((await here.ownerOf('s', 'ann'))?.id).toBe(there.id);
    // It is known now, also to the other sender.
    expect((await here.ownerOf('s', 'eve'))?.id).toBe(there.id);
  });

  it('loses its sessions also if the database says nothing at all', async () => {
    const { store, line } = await startStore('s');
    const { node } = await join(store, '10.0.0.1:1');
    await node.sessions.claim('s');
    let isLost = false;
    node.sessions.onLost(() => {
      isLost = true;
    });
    line.isSilent = true;
    await expect.poll(() => isLost, { timeout: 8_000 }).toBe(true);
    expect(node.sessions.holds('s')).toBe(false);
    line.silence.reject(new Error('timed out'));
  });

  it('that is cut off from the database serves no session after four seconds, and loses all, before another takes them', async () => {
    const { store, line, storage } = await startStore('s');
    const { node, warnings } = await join(store, '10.0.0.1:1');
    await node.sessions.claim('s');
    let lostAt = Number.POSITIVE_INFINITY;
    node.sessions.onLost(() => {
      lostAt = performance.now();
    });
    line.isCut = true;
    const cutAt = performance.now();
    let takenAt = Number.POSITIVE_INFINITY;
    const other = { id: 'other', address: '10.0.0.2:2', version: '1', startedAt: 1, ...settled };
    await storage.nodes.beat(other);
    while (takenAt === Number.POSITIVE_INFINITY && performance.now() - cutAt < 10_000) {
      if ((await storage.nodes.claimSession('s', 'other')) === 'claimed') takenAt = performance.now();
      else await sleep(20);
    }
    expect(node.isCurrent()).toBe(false);
    expect(takenAt).toBeGreaterThan(cutAt + 3_500);
    await expect.poll(() => lostAt, { timeout: 3_000 }).toBeLessThan(Number.POSITIVE_INFINITY);
    expect(JSON.stringify(warnings)).toContain('cut off from the database');
    await storage.nodes.beat(other);
    line.isCut = false;
    await expect.poll(() => node.isCurrent(), { timeout: 3_000 }).toBe(true);
    expect(await node.sessions.claim('s')).toBe('other');
  });

  it('that was paused loses its sessions as soon as it is asked for one of them, before any timer runs', async () => {
    const { store, line } = await startStore('s');
    const { node } = await join(store, '10.0.0.1:1');
    await node.sessions.claim('s');
    node.sessions.opened('t');
    expect([node.sessions.holds('s'), node.sessions.holds('t')]).toEqual([true, true]);
    let isLost = false;
    node.sessions.onLost(() => {
      isLost = true;
    });
    line.isCut = true;
    await sleep(500);
    // As a process that was stopped: its clock has moved on, and no timer has run.
    const until = performance.now() + 5_000;
    while (performance.now() < until);
    expect(isLost).toBe(false);
    expect([node.sessions.holds('s'), node.sessions.holds('t'), isLost]).toEqual([false, false, true]);
    line.isCut = false;
    await expect.poll(() => node.isCurrent(), { timeout: 3_000 }).toBe(true);
    expect(node.sessions.holds('s')).toBe(false);
  });

  it('whose beat was stored late loses its sessions, although its own clock has noticed nothing', async () => {
    const { store, file } = await startStore('s', 't');
    const { node, warnings } = await join(store, '10.0.0.1:1');
    for (const key of ['s', 't']) await node.sessions.claim(key);
    let losses = 0;
    let timesBack = 0;
    node.sessions.onLost(() => losses++);
    node.onBack(() => timesBack++);
    const db = new Database(file);
    onTestFinished(() => void db.close());
    // As if the last beat had been stored too late: another node may have taken a session since.
    db.exec(`UPDATE nodes SET beat_at_ms = 1; UPDATE mcp_sessions SET node_id = 'other' WHERE key = 's'`);
    await expect.poll(() => [losses, timesBack], { timeout: 4_000 }).toEqual([1, 1]);
    expect(node.isCurrent()).toBe(true);
    expect(['s', 't'].map((key) => node.sessions.holds(key))).toEqual([false, false]);
    expect(JSON.stringify(warnings)).toContain('cut off from the database');
    // The other node is not alive.
    expect(await node.sessions.claim('s')).toBeUndefined();
    expect(node.sessions.holds('s')).toBe(true);
  });

  it('in whose place a server without a port serves gives up all sessions, says so, and serves again once that one has ended', async () => {
    const { store, line } = await startStore('s');
    const { node, warnings } = await join(store, '10.0.0.1:1');
    await node.sessions.claim('s');
    let isLost = false;
    node.sessions.onLost(() => {
      isLost = true;
    });
    expect(node.isReplaced()).toBe(false);
    line.hasRival = true;
    await expect.poll(() => node.isReplaced(), { timeout: 4_000 }).toBe(true);
    expect([node.isCurrent(), node.sessions.holds('s'), isLost]).toEqual([false, false, true]);
    expect(JSON.stringify(warnings)).toContain('a server without cluster.port has taken over');
    line.hasRival = false;
    await expect.poll(() => node.isCurrent(), { timeout: 8_000 }).toBe(true);
    expect([node.isReplaced(), node.sessions.holds('s')]).toEqual([false, false]);
  });

  it('begins no new lease by a beat that was under way when it left', async () => {
    const { store, storage } = await startStore();
    const beats = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    let count = 0;
    const slow: NodeStore = {
      ...store,
      async beat(row) {
        if (count++ === 0) return store.beat(row);
        begun.resolve();
        await beats.promise;
        return store.beat(row);
      },
    };
    const { node } = await join(slow, '10.0.0.1:1');
    await begun.promise;
    const left = node.leave();
    beats.resolve();
    await left;
    expect(await storage.nodes.list()).toEqual([]);
  });

  it('says 503 of a session whose owner is gone each time it is asked for', async () => {
    const { store } = await startStore('s');
    const { node } = await join(
      { ...store, claimSession: async () => 'taken', ownerOf: async () => undefined },
      '10.0.0.1:1',
    );
    await expect(node.sessions.claim('s')).rejects.toThrow(StorageUnavailable);
  });

  it('knows at once if another node is alive, also one that has just joined', async () => {
    const { store } = await startStore();
    const { node: here } = await join(store, '10.0.0.1:1');
    expect(await here.hasOthers()).toBe(false);
    const { node: there } = await join(store, '10.0.0.2:2');
    expect(await here.hasOthers()).toBe(true);
    expect((await here.listOthers()).map(({ id }) => id)).toEqual([there.id]);
    await there.leave();
    await expect.poll(() => here.hasOthers(), { timeout: 5_000 }).toBe(false);
  });

  it('calls back after a time without a lease, in which others took it for dead', async () => {
    const { store, line } = await startStore();
    const { node } = await join(store, '10.0.0.1:1');
    let timesBack = 0;
    node.onBack(() => timesBack++);
    line.isCut = true;
    await expect.poll(() => node.isCurrent(), { timeout: 8_000 }).toBe(false);
    expect(timesBack).toBe(0);
    line.isCut = false;
    await expect.poll(() => timesBack, { timeout: 3_000 }).toBe(1);
  });

  it('warns once of a node with other settings, and again if they differ in another way', async () => {
    const { store, storage } = await startStore();
    await storage.nodes.beat({ ...settled, id: 'same', address: '10.0.0.2:2', version: '1', startedAt: 1 });
    const { node, warnings } = await join(store, '10.0.0.1:1');
    const other = { id: 'other', address: '10.0.0.3:3', version: '1', startedAt: 2, refusesFile: false };
    await storage.nodes.beat({ ...other, settingsHash: 'other' });
    await expect.poll(() => warnings.length, { timeout: 9_000 }).toBe(1);
    expect(JSON.stringify(warnings)).toContain('another node runs with other settings');
    expect(JSON.stringify(warnings)).toContain('10.0.0.3:3');
    node.show({ settingsHash: 'new' });
    await expect
      .poll(
        async () => {
          await storage.nodes.beat({ ...other, settingsHash: 'other' });
          return warnings.length;
        },
        { timeout: 9_000, interval: 500 },
      )
      .toBeGreaterThan(1);
    expect((await storage.nodes.listAll()).find(({ id }) => id === node.id)?.settingsHash).toBe('new');
  });
});

describe('a server without a port for others', () => {
  async function start(store: NodeStore) {
    const { logger, warnings } = createTestLogger();
    const alone = await serveAlone({ store, version: '1', now, logger });
    onTestFinished(() => alone.leave().catch(() => undefined));
    let losses = 0;
    alone.onLost(() => losses++);
    return { alone, warnings, losses: () => losses };
  }

  it('that was paused serves nothing before the database has said that it still has its lease', async () => {
    const { store, line } = await startStore();
    const { alone, losses } = await start(store);
    expect(alone.mayServe()).toBe(true);
    line.isSilent = true;
    // As a process that was stopped: its clock has moved on, and no timer has run.
    const until = performance.now() + 2_500;
    while (performance.now() < until);
    const answer = alone.mayServe();
    expect(answer).toBeInstanceOf(Promise);
    line.silence.resolve(true);
    expect([await answer, alone.mayServe(), losses()]).toEqual([true, true, 0]);
  });

  it('that cannot renew its lease serves no session until it has: another server may have them', async () => {
    const { store, line } = await startStore();
    const { alone, losses } = await start(store);
    expect(alone.isCurrent()).toBe(true);
    line.isSilent = true;
    await expect.poll(() => alone.isCurrent(), { timeout: 8_000 }).toBe(false);
    line.isSilent = false;
    line.silence.resolve(true);
    await expect.poll(() => alone.isCurrent(), { timeout: 4_000 }).toBe(true);
    expect(losses()).toBe(0);
  });

  it('loses its sessions if another one has served since its last beat, and serves on', async () => {
    const { store, file } = await startStore();
    const { alone, losses } = await start(store);
    const db = new Database(file);
    onTestFinished(() => void db.close());
    db.exec('DELETE FROM nodes');
    await expect.poll(losses, { timeout: 4_000 }).toBe(1);
    expect([alone.mayServe(), alone.isReplaced()]).toEqual([true, false]);
  });

  it('loses its sessions once another one serves, says so, and serves nothing any more', async () => {
    const { store, line } = await startStore();
    const { alone, losses, warnings } = await start(store);
    line.hasRival = true;
    await expect.poll(() => alone.isReplaced(), { timeout: 4_000 }).toBe(true);
    expect([alone.mayServe(), losses()]).toEqual([false, 1]);
    expect(JSON.stringify(warnings)).toContain('another server has taken over');
  });
});
