import type { IncomingMessage } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { composeCluster } from '../../src/composition/cluster.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { parseSettings } from '../../src/options.ts';
import { openSqliteStorage } from '../../src/storage/sqlite/index.ts';
import { testFolder } from '../client/support/folder.ts';

async function compose(cluster: object, environment: NodeJS.ProcessEnv = {}) {
  const storage = openSqliteStorage(`${testFolder()}/gatehouse.db`);
  onTestFinished(() => storage.close());
  const composed = await composeCluster({
    settings: parseSettings({ cluster }),
    ...{ storage, environment, version: '1' },
    keys: { audit: 'a key of the installation' },
    findClientAddress: () => '192.0.2.1',
    now: () => 1,
    logger: createLogger('silent'),
  });
  return { composed, storage };
}

describe('the nodes of an installation', () => {
  it('are one process without a port for others: nothing is claimed and nothing forwarded', async () => {
    const { composed, storage } = await compose({});
    const listener = (): void => undefined;
    expect(composed.ownership).toBeUndefined();
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

  it('need the variable that is to hold their address', async () => {
    await expect(compose({ port: 0, address: { env: 'POD_IP' } })).rejects.toThrow(/cluster\.address/);
  });
});
