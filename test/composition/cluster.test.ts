import type { IncomingMessage } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { composeCluster } from '../../src/composition/cluster.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { parseSettings } from '../../src/options.ts';
import type { NodeStore } from '../../src/storage/nodes.ts';
import { openSqliteStorage } from '../../src/storage/sqlite/index.ts';
import { testFolder } from '../client/support/folder.ts';
import { freePort } from '../support/free-port.ts';

async function compose(
  cluster: object,
  environment: NodeJS.ProcessEnv = {},
  folder = testFolder(),
  nodes: Partial<NodeStore> = {},
) {
  const storage = openSqliteStorage(`${folder}/gatehouse.db`);
  onTestFinished(() => storage.close());
  const composed = await composeCluster({
    settings: parseSettings({ cluster }),
    storage: { ...storage, nodes: { ...storage.nodes, ...nodes } },
    ...{ environment, version: '1' },
    keys: { audit: 'a key of the installation' },
    findClientAddress: () => '192.0.2.1',
    now: () => 1,
    logger: createLogger('silent'),
  });
  onTestFinished(() => composed.close());
  return { composed, storage };
}

describe('the nodes of an installation', () => {
  it('are one process without a port for others: nothing is claimed and nothing forwarded', async () => {
    const { composed, storage } = await compose({});
    const listener = (): void => undefined;
    expect(composed.peers).toBeUndefined();
    expect(composed.serve(listener)).toBe(listener);
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

  it('on one SQLite folder are refused unless each has a port for the others, and not while another one ends (FA-37)', async () => {
    const folder = testFolder();
    const alone = await compose({}, {}, folder);
    for (const cluster of [{}, { port: 0 }])
      await expect(compose(cluster, {}, folder)).rejects.toThrow(
        /^Another server runs on this data folder\. Stop it first, or set cluster\.port for both/,
      );
    alone.composed.stopServing();
    const next = await compose({ port: 0 }, {}, folder);
    const beside = await compose({ port: 0 }, {}, folder);
    await expect(compose({}, {}, folder)).rejects.toThrow(/Another server/);
    await alone.composed.close();
    await next.composed.close();
    await expect(compose({}, {}, folder)).rejects.toThrow(/Another server/);
    await beside.composed.close();
    await (await compose({}, {}, folder)).composed.close();
  });

  it('leave nothing open if they cannot join: neither their port nor the folder is taken', async () => {
    const folder = testFolder();
    const port = await freePort();
    const cut = { beat: () => Promise.reject(new Error('cut off')) };
    await expect(compose({ port }, {}, folder, cut)).rejects.toThrow('cut off');
    await expect(compose({ port }, {}, folder)).resolves.toBeDefined();
  });

  it('need the variable that is to hold their address', async () => {
    await expect(compose({ port: 0, address: { env: 'POD_IP' } })).rejects.toThrow(/cluster\.address/);
  });
});
