import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { generateMasterKey } from '../../../src/storage/postgres/open-installation.ts';
import { testFolder } from '../../client/support/folder.ts';
import type { RawSession } from '../../flows/restart/support/session.ts';
import { type Balancer, startBalancer } from '../balancer.ts';
import { type Program, runProgram } from '../program.ts';
import { commandLine } from '../served.ts';
import type { PostgresServer } from './postgres.ts';

/** A node that runs as a process. */
export interface ProcessNode {
  program: Program;
  port: number;
  /** Generated password of the first account, which this node has created. */
  password: string | undefined;
}

/** An installation whose nodes are processes behind a balancer; ended with the running test. */
export interface ProcessNodes {
  balancer: Balancer;
  url: string;
  mcpUrl: string;
  /** URL of the database; empty on SQLite. */
  database: string;
  /** Folder of the database on SQLite. */
  folder: string;
  /** Variables that hold the URL of the database and the master key. */
  env: { DATABASE_URL: string; MASTER_KEY: string };
  /** Writes a config file for a node and returns its path. @param more settings over those of the nodes */
  writeConfig(more?: object): string;
  /**
   * Runs a node, which may not have started yet.
   * @param main entry of the command line; default is that of this program
   * @param more settings over those of the nodes
   */
  run(main?: string, more?: object): Program;
  /** Waits until a node serves, and adds it to the balancer. */
  join(program: Program): Promise<ProcessNode>;
  /** Runs a node and waits until it serves. */
  start(main?: string, more?: object): Promise<ProcessNode>;
}

/**
 * Prepares an installation in a new database.
 * @param server of the database; undefined for SQLite in a folder that all nodes share
 * @param options.through returns the URL by which nodes reach the database
 * @param options.pooled true if that is a pooler
 * @param options.settings over those of the nodes
 */
export async function prepareNodes(
  server: PostgresServer | undefined,
  { through = (url: string) => url, pooled = false, settings = {} } = {},
): Promise<ProcessNodes> {
  const balancer = await startBalancer();
  onTestFinished(() => balancer.close());
  const database = server ? through(await server.createDatabase()) : '';
  const folder = testFolder();
  const place = server
    ? { storage: { postgres: { env: 'DATABASE_URL' }, masterKey: { env: 'MASTER_KEY' }, pooled } }
    : { data: folder };
  const env = { DATABASE_URL: database, MASTER_KEY: generateMasterKey() };
  const nodes: ProcessNodes = {
    ...{ balancer, url: balancer.url, mcpUrl: `${balancer.url}/mcp`, database, folder, env },
    writeConfig(more = {}) {
      const config = join(testFolder(), 'gatehouse.json');
      writeFileSync(
        config,
        JSON.stringify({
          publicUrl: balancer.url,
          listen: { port: 0 },
          ...place,
          cluster: { port: 0 },
          dangerously: { trustOtherPorts: true },
          ...settings,
          ...more,
        }),
      );
      return config;
    },
    run(main = commandLine, more = {}) {
      const program = runProgram(main, ['serve', '--config', nodes.writeConfig(more), '--json'], {
        ...{ input: '', env },
      });
      onTestFinished(() => program.stop());
      return program;
    },
    async join(program) {
      const [text] = await program.waitFor('stdout', /\{[\s\S]*\n\}/);
      const { port, firstAccount } = JSON.parse(text) as {
        port: number;
        firstAccount?: { generatedPassword?: string };
      };
      balancer.ports.push(port);
      return { program, port, password: firstAccount?.generatedPassword };
    },
    start: (main, more) => nodes.join(nodes.run(main, more)),
  };
  return nodes;
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
