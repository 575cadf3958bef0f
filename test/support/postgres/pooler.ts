import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { freePort } from '../free-port.ts';
import { findPooler } from './find-postgres.ts';
import { type PostgresServer, serverOwner } from './postgres.ts';

/** A PgBouncer in transaction mode. */
export interface Pooler {
  /** Returns the URL of a database of its server through the pooler. */
  through: (url: string) => string;
}

/** Gives the tests of a file a PgBouncer in transaction mode before a server. */
export function usePooler(server: () => PostgresServer): () => Pooler {
  let pooler: (Pooler & { close: () => Promise<void> }) | undefined;
  beforeAll(async () => {
    pooler = await startPooler(server().url);
  });
  afterAll(() => pooler?.close());
  return () => {
    if (!pooler) throw new Error('the pooler is not started yet');
    return pooler;
  };
}

/** Server connections per database: fewer than the clients of two nodes. */
const poolSize = 6;

async function startPooler(serverUrl: string): Promise<Pooler & { close: () => Promise<void> }> {
  const program = findPooler();
  if (program === undefined) throw new Error('there is no PgBouncer: install it');
  const { hostname, port: serverPort, username } = new URL(serverUrl);
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-pooler-'));
  const port = await freePort();
  const config = join(folder, 'pgbouncer.ini');
  const users = join(folder, 'users.txt');
  writeFileSync(users, `"${username}" ""\n`);
  writeFileSync(
    config,
    `[databases]
* = host=${hostname} port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = transaction
default_pool_size = ${poolSize}
max_client_conn = 500
`,
  );
  const owner = serverOwner();
  if (owner) for (const path of [folder, config, users]) chownSync(path, owner.uid, owner.gid);
  const child = spawn(program, ['--quiet', config], { ...owner, cwd: folder, stdio: 'ignore' });
  const through = (url: string): string => url.replace(`:${serverPort}/`, `:${port}/`);
  for (let tries = 0; ; tries++) {
    const client = new pg.Client({ connectionString: through(serverUrl) });
    try {
      await client.connect();
      await client.end();
      break;
    } catch (error) {
      if (tries === 600) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  return {
    through,
    async close() {
      const ended = once(child, 'exit');
      child.kill('SIGQUIT');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
