import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { generateMasterKey } from '../../../../src/storage/postgres/open-installation.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { type Balancer, startBalancer } from '../../../support/balancer.ts';
import type { PostgresServer } from '../../../support/postgres/postgres.ts';
import { type Program, runProgram } from '../../../support/program.ts';
import { commandLine } from '../../../support/served.ts';
import type { RawSession } from '../../restart/support/session.ts';

/** An installation whose nodes are processes. */
export interface Processes {
  balancer: Balancer;
  mcpUrl: string;
  /** URL of its database; undefined on SQLite. */
  databaseUrl: string | undefined;
  /** Folder of its database on SQLite. */
  folder: string;
  /** Starts a node; a balancer gets its port. */
  start(): Promise<NodeProcess>;
}

/** A node in a process of its own. */
export interface NodeProcess {
  program: Program;
  port: number;
  /** Password of the first account, if this node has created it. */
  password: string | undefined;
}

/**
 * Prepares an installation.
 * @param server of its database; undefined for SQLite in a folder that all nodes share
 * @param settings over those of the nodes
 */
export async function prepareProcesses(
  server: PostgresServer | undefined,
  settings: object = {},
): Promise<Processes> {
  const balancer = await startBalancer();
  onTestFinished(() => balancer.close());
  const databaseUrl = await server?.createDatabase();
  const folder = testFolder();
  const env = { DATABASE_URL: databaseUrl ?? '', MASTER_KEY: generateMasterKey() };
  const place = server
    ? { storage: { postgres: { env: 'DATABASE_URL' }, masterKey: { env: 'MASTER_KEY' } } }
    : { data: folder };
  return {
    balancer,
    mcpUrl: `${balancer.url}/mcp`,
    ...{ databaseUrl, folder },
    async start() {
      const config = join(testFolder(), 'gatehouse.json');
      writeFileSync(
        config,
        JSON.stringify({
          ...{ publicUrl: balancer.url, listen: { port: 0 }, cluster: { port: 0 } },
          ...place,
          dangerously: { trustOtherPorts: true },
          ...settings,
        }),
      );
      const program = runProgram(commandLine, ['serve', '--config', config, '--json'], { input: '', env });
      onTestFinished(() => program.stop());
      const [text] = await program.waitFor('stdout', /\{[\s\S]*\n\}/);
      const { port, firstAccount } = JSON.parse(text) as {
        port: number;
        firstAccount?: { generatedPassword?: string };
      };
      balancer.ports.push(port);
      return { program, port, password: firstAccount?.generatedPassword };
    },
  };
}

/** Sends a message until it is served: a session of a node that is gone takes its lease. */
export async function untilServed(session: RawSession, message: Parameters<RawSession['post']>[0]) {
  const until = performance.now() + 20_000;
  const statuses = new Set<number>();
  for (;;) {
    const response = await session.post(message);
    if (response.status === 200 || performance.now() > until) return { response, statuses };
    statuses.add(response.status);
    await response.text();
    await sleep(100);
  }
}
