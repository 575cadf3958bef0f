import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { generateMasterKey } from '../../../src/storage/postgres/open-installation.ts';
import { testFolder } from '../../client/support/folder.ts';
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

/** An installation on PostgreSQL whose nodes are processes behind a balancer; ended with the running test. */
export interface ProcessNodes {
  balancer: Balancer;
  url: string;
  mcpUrl: string;
  /** URL of the database. */
  database: string;
  /** Variables that hold the URL of the database and the master key. */
  env: { DATABASE_URL: string; MASTER_KEY: string };
  /** Writes a config file for a node and returns its path. */
  writeConfig(): string;
  /**
   * Runs a node, which may not have started yet.
   * @param main entry of the command line; default is that of this program
   */
  run(main?: string): Program;
  /** Waits until a node serves, and adds it to the balancer. */
  join(program: Program): Promise<ProcessNode>;
  /** Runs a node and waits until it serves. */
  start(main?: string): Promise<ProcessNode>;
}

/**
 * Prepares an installation in a new database.
 * @param options.through returns the URL by which nodes reach the database
 * @param options.pooled true if that is a pooler
 * @param options.settings further settings of the nodes
 */
export async function prepareNodes(
  server: PostgresServer,
  { through = (url: string) => url, pooled = false, settings = {} } = {},
): Promise<ProcessNodes> {
  const balancer = await startBalancer();
  onTestFinished(() => balancer.close());
  const database = through(await server.createDatabase());
  const env = { DATABASE_URL: database, MASTER_KEY: generateMasterKey() };
  const nodes: ProcessNodes = {
    ...{ balancer, url: balancer.url, mcpUrl: `${balancer.url}/mcp`, database, env },
    writeConfig() {
      const config = join(testFolder(), 'gatehouse.json');
      writeFileSync(
        config,
        JSON.stringify({
          ...settings,
          publicUrl: balancer.url,
          listen: { port: 0 },
          storage: { postgres: { env: 'DATABASE_URL' }, masterKey: { env: 'MASTER_KEY' }, pooled },
          cluster: { port: 0 },
          dangerously: { trustOtherPorts: true },
        }),
      );
      return config;
    },
    run(main = commandLine) {
      const program = runProgram(main, ['serve', '--config', nodes.writeConfig(), '--json'], {
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
    start: (main) => nodes.join(nodes.run(main)),
  };
  return nodes;
}
