import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { composeBus, composeCluster } from '../../src/composition/cluster.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { parseSettings } from '../../src/options.ts';
import { leaseSeconds, type NodeStore } from '../../src/storage/nodes.ts';
import { openPostgresStorage } from '../../src/storage/postgres/index.ts';
import { openSqliteStorage } from '../../src/storage/sqlite/index.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { testFolder } from '../client/support/folder.ts';
import { connectTo, usePostgres } from '../storage/postgres/subject.ts';
import { freePort } from '../support/free-port.ts';

const server = usePostgres();

async function composeOn(storage: Storage, input: object, environment: NodeJS.ProcessEnv = {}) {
  const settings = parseSettings(input);
  const keys = { audit: 'a key of the installation' };
  const logger = createLogger('silent');
  const bus = composeBus({ settings, storage, keys, logger, metrics: createMetrics('1') });
  const composed = await composeCluster({
    ...{ settings, storage, environment, keys, bus, logger, version: '1' },
    findClientAddress: () => '192.0.2.1',
    now: () => 1,
  });
  onTestFinished(() => composed.close());
  return composed;
}

async function compose(
  cluster: object,
  environment: NodeJS.ProcessEnv = {},
  folder = testFolder(),
  nodes: Partial<NodeStore> = {},
) {
  const opened = openSqliteStorage(`${folder}/gatehouse.db`);
  onTestFinished(() => opened.close());
  const storage = { ...opened, nodes: { ...opened.nodes, ...nodes } };
  const composed = await composeOn(storage, { cluster }, environment);
  return { composed, storage };
}

describe('the nodes of an installation', () => {
  it('are one process without a port for others: nothing is claimed and nothing forwarded', async () => {
    const { composed, storage } = await compose({});
    expect(composed.peers).toBeUndefined();
    let served = 0;
    composed.serve(() => served++)({} as IncomingMessage, {} as ServerResponse);
    expect(served).toBe(1);
    expect(composed.findClientAddress({} as IncomingMessage)).toBe('192.0.2.1');
    await composed.close();
    expect(await storage.nodes.list()).toEqual([]);
  });

  it('are reached at the address of the settings, or that of a variable, and leave when they close', async () => {
    for (const [cluster, environment, address] of [
      [{ port: 0 }, {}, /^127\.0\.0\.1:\d+$/],
      [{ port: 0, address: 'node-1.internal' }, {}, /^node-1\.internal:\d+$/],
      [{ port: 0, address: { env: 'POD_IP' } }, { POD_IP: 'fd00::7' }, /^\[fd00::7\]:\d+$/],
    ] as const) {
      const { composed, storage } = await compose(cluster, environment);
      expect(await storage.nodes.list()).toEqual([
        expect.objectContaining({ address: expect.stringMatching(address) }),
      ]);
      await composed.close();
      expect(await storage.nodes.list()).toEqual([]);
    }
  });

  it('need an address if they listen on all addresses: another node cannot connect to those', async () => {
    for (const host of ['0.0.0.0', '::'])
      await expect(compose({ port: 0, host })).rejects.toThrow(/cluster\.address: is required/);
  });

  it('on one SQLite folder are refused unless each has a port for the others, and until the storage of the other is closed (FA-37)', async () => {
    const folder = testFolder();
    const alone = await compose({}, {}, folder);
    for (const cluster of [{}, { port: 0 }])
      await expect(compose(cluster, {}, folder)).rejects.toThrow(
        /^Another server runs on this data folder\. Stop it first, or set cluster\.port for both/,
      );
    await alone.composed.close();
    await expect(compose({}, {}, folder)).rejects.toThrow(/Another server/);
    await alone.storage.close();
    const next = await compose({ port: 0 }, {}, folder);
    const beside = await compose({ port: 0 }, {}, folder);
    await expect(compose({}, {}, folder)).rejects.toThrow(/Another server/);
    await next.composed.close();
    await next.storage.close();
    await expect(compose({}, {}, folder)).rejects.toThrow(/Another server/);
    await beside.composed.close();
    await beside.storage.close();
    await (await compose({}, {}, folder)).composed.abandon();
    await compose({}, {}, folder);
  });

  it('on one PostgreSQL database are refused unless each has a port for the others, until the only server has closed (FA-37)', async () => {
    const url = await server().createDatabase();
    const open = async (cluster: object) => {
      const storage = await openPostgresStorage({ url });
      onTestFinished(() => storage.close());
      return composeOn(storage, { cluster });
    };
    const alone = await open({});
    for (const cluster of [{}, { port: 0 }])
      await expect(open(cluster)).rejects.toThrow(
        /^Another server runs on this database .*cluster\.port for both/,
      );
    await alone.close();
    const next = await open({ port: 0 });
    const beside = await open({ port: 0 });
    await expect(open({})).rejects.toThrow(/Another server/);
    await Promise.all([next.close(), beside.close()]);
    await open({});
  });

  it('of one process on one PostgreSQL storage are the only server together, until the last of them has closed', async () => {
    const url = await server().createDatabase();
    const [storage, other] = [await openPostgresStorage({ url }), await openPostgresStorage({ url })];
    onTestFinished(() => Promise.all([storage, other].map((each) => each.close())).then(() => undefined));
    const [first, second] = await Promise.all([composeOn(storage, {}), composeOn(storage, {})]);
    for (let times = 0; times < 2; times++) await first.close();
    await expect(composeOn(other, {})).rejects.toThrow(/Another server/);
    await second.close();
    await composeOn(other, {});
    await expect(composeOn(storage, {})).rejects.toThrow(/Another server/);
  });

  it('on PostgreSQL start after one that was killed, once its lease is over', async () => {
    const storage = await openPostgresStorage({ url: await server().createDatabase() });
    onTestFinished(() => storage.close());
    const row = { id: 'killed', version: '1', startedAt: 1, settingsHash: '', refusesFile: false };
    await storage.nodes.beat({ ...row, address: 'web-1' });
    const begunAt = performance.now();
    await composeOn(storage, {});
    expect(performance.now() - begunAt).toBeGreaterThan(leaseSeconds * 1000 - 1_000);
  });

  it.each([
    ['without a port', {}],
    ['with a port', { port: 0 }],
  ])('%s refuse requests once a server without one has taken over, and probes say so', async (_, cluster) => {
    const url = await server().createDatabase();
    const storage = await openPostgresStorage({ url });
    onTestFinished(() => storage.close());
    const alone = await composeOn(storage, { cluster });
    const http = createServer(alone.serve((_, response) => void response.end('served')));
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void http.close());
    const at = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    expect((await fetch(`${at}/mcp`)).status).toBe(200);
    // As if the process had been paused for longer than its lease, and another one had started meanwhile.
    const db = await connectTo(url);
    await db.query(
      `BEGIN; UPDATE nodes SET id = 'another', address = 'web-2', beat_at = beat_at + interval '1 minute'; COMMIT`,
    );
    await expect.poll(() => alone.isReplaced(), { timeout: 4_000 }).toBe(true);
    expect((await fetch(`${at}/mcp`)).status).toBe(503);
    expect((await fetch(`${at}/readyz`)).status).toBe(200);
  });

  it('leave nothing open if they cannot join: neither their port nor the folder is taken', async () => {
    const folder = testFolder();
    const port = await freePort();
    const cut = { beat: () => Promise.reject(new Error('cut off')) };
    await expect(compose({ port }, {}, folder, cut)).rejects.toThrow('cut off');
    await expect(compose({ port }, {}, folder)).resolves.toBeDefined();
  });

  it('leave again if they cannot find out which messages they have missed', async () => {
    const storage = openSqliteStorage(`${testFolder()}/gatehouse.db`);
    onTestFinished(() => storage.close());
    const nodeMessages = {
      ...storage.nodeMessages,
      lastPosition: () => Promise.reject(new Error('cut off')),
    };
    const joining = composeOn({ ...storage, nodeMessages }, { cluster: { port: 0 } });
    await expect(joining).rejects.toThrow('cut off');
    expect(await storage.nodes.list()).toEqual([]);
  });

  it('need the variable that is to hold their address', async () => {
    await expect(compose({ port: 0, address: { env: 'POD_IP' } })).rejects.toThrow(/cluster\.address/);
  });

  it('show the same digest for the same settings, whatever belongs to their machines', async () => {
    const storage = openSqliteStorage(`${testFolder()}/gatehouse.db`);
    onTestFinished(() => storage.close());
    const machine = { listen: { port: 1 }, data: './other', log: { level: 'debug' } };
    const nodes = [
      await composeOn(storage, { cluster: { port: 0 } }),
      await composeOn(storage, { ...machine, cluster: { port: 0, address: 'here' } }),
      await composeOn(storage, { cluster: { port: 0 }, mcp: { maxCallsPerPrincipal: 3 } }),
    ];
    const hashes = (await storage.nodes.list()).map(({ settingsHash }) => settingsHash);
    expect(new Set(hashes).size).toBe(2);
    for (const hash of hashes) expect(hash).toMatch(/^[\w-]{16}$/);
    await Promise.all(nodes.map((node) => node.close()));
  });

  it('reload together: each says if it could use its config file, and a node without an answer is named', async () => {
    const storage = openSqliteStorage(`${testFolder()}/gatehouse.db`);
    onTestFinished(() => storage.close());
    const nodes = await Promise.all([1, 2, 3, 4, 5].map(() => composeOn(storage, { cluster: { port: 0 } })));
    const [asking, willing, refusing, , leaving] = nodes;
    onTestFinished(() => Promise.all(nodes.map((node) => node.close())).then(() => {}));
    let asked = 0;
    asking?.onReload(() => {
      asked++;
      return true;
    });
    willing?.onReload(() => true);
    refusing?.onReload(() => false);
    leaving?.onReload(() => {
      void leaving.close();
      throw new Error('it ends before it has read its file');
    });
    const outcomes = await asking?.reloadOthers();
    expect(outcomes?.map(({ outcome }) => outcome).sort()).toEqual(['no answer', 'refused', 'reloaded']);
    expect(asked).toBe(0);
    refusing?.showReload(undefined);
    await expect
      .poll(async () => (await storage.nodes.listAll()).filter(({ refusesFile }) => refusesFile).length, {
        timeout: 3_000,
      })
      .toBe(1);
  });
});
