import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { SealingKey } from '../../../src/crypto/sealed-box.ts';
import type { GatehouseOptions } from '../../../src/index.ts';
import { openPostgres } from '../../../src/storage/postgres/index.ts';
import { generateMasterKey, parseMasterKey } from '../../../src/storage/postgres/open-installation.ts';
import { type Balancer, startBalancer } from '../balancer.ts';
import { type RunningGatehouse, startGatehouse } from '../gatehouse.ts';

/** Nodes on one database behind a balancer; ended with the running test. */
export interface TestNodes {
  balancer: Balancer;
  nodes: RunningGatehouse[];
  /** Public URL, of the balancer. */
  url: string;
  mcpUrl: string;
}

/** Starts nodes of an installation, each with its own connections. */
export async function startNodes(
  databaseUrl: string,
  count: number,
  options: Partial<GatehouseOptions> = {},
): Promise<TestNodes> {
  const balancer = await startBalancer();
  const masterKey = parseMasterKey(generateMasterKey()) as SealingKey;
  const nodes: RunningGatehouse[] = [];
  onTestFinished(async () => {
    balancer.close();
    await Promise.all(nodes.map((node) => node.stop()));
  });
  for (let index = 0; index < count; index++) {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-node-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const installation = await openPostgres({ url: databaseUrl, masterKey: async () => masterKey });
    const node = await startGatehouse({
      ...{ publicUrl: balancer.url, folder, cluster: { port: 0 } },
      ...options,
      installation,
    });
    let stopped: Promise<void> | undefined;
    nodes.push({
      ...node,
      stop(patienceMs) {
        stopped ??= node.stop(patienceMs);
        return stopped;
      },
    });
    balancer.ports.push(Number(new URL(node.listensAt).port));
  }
  return { balancer, nodes, url: balancer.url, mcpUrl: `${balancer.url}/mcp` };
}
