import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import type { TestCertificate } from '../certificate.ts';
import { freePort } from '../free-port.ts';
import { findPostgres } from './find-postgres.ts';

/** A PostgreSQL server of its own, on loopback. */
export interface PostgresServer {
  /** URL of its own database. */
  url: string;
  /** Creates an empty database and returns its URL. */
  createDatabase: () => Promise<string>;
  /** Runs statements as the owner of the server. */
  query: (sql: string) => Promise<unknown[]>;
  /** Stops the server as a crash would and starts it again. */
  crash: () => Promise<void>;
  /** Stops the server (`stop`) until it is started again. */
  stop: () => Promise<void>;
  start: () => Promise<void>;
  /** Encrypts connections with a certificate from now on; undefined: never again. */
  useCertificate: (certificate: TestCertificate | undefined) => Promise<void>;
  close: () => Promise<void>;
}

/**
 * Starts a server in a new folder: initdb takes two seconds, so tests of a file share one.
 * @param more settings of the server, `name=value`
 */
export async function startPostgres(more: readonly string[] = []): Promise<PostgresServer> {
  const bin = findPostgres();
  if (bin === undefined) throw new Error('there is no PostgreSQL: install it, or set POSTGRES_BIN');
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-postgres-'));
  const owner = serverOwner();
  if (owner) chownSync(folder, owner.uid, owner.gid);
  chmodSync(folder, 0o700);
  const data = join(folder, 'data');
  const port = await freePort();
  const run = (program: string, ...args: string[]): void => {
    const { status, stderr } = spawnSync(join(bin, program), args, {
      ...owner,
      cwd: folder,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`${program} failed: ${stderr}`);
  };
  run('initdb', '-D', data, '-U', 'gatehouse', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync');

  let server: ReturnType<typeof spawn> | undefined;
  const url = `postgres://gatehouse@127.0.0.1:${port}/postgres`;
  const query = (sql: string): Promise<unknown[]> => queryAt(url, sql);
  const start = async (): Promise<void> => {
    const settings = [
      `port=${port}`,
      'listen_addresses=127.0.0.1',
      'max_connections=300',
      `unix_socket_directories=${folder}`,
      ...more,
    ];
    server = spawn(join(bin, 'postgres'), ['-D', data, ...settings.flatMap((setting) => ['-c', setting])], {
      ...owner,
      cwd: folder,
      stdio: 'ignore',
    });
    for (let tries = 0; ; tries++) {
      try {
        await query('SELECT 1');
        return;
      } catch (error) {
        if (tries === 1_200) throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  };
  /** @param signal SIGINT disconnects everybody, SIGQUIT stops as a crash does */
  const end = async (signal: 'SIGINT' | 'SIGQUIT'): Promise<void> => {
    if (!server || server.exitCode !== null) return;
    const ended = once(server, 'exit');
    server.kill(signal);
    await ended;
  };
  await start();
  return {
    url,
    createDatabase: () => createDatabaseAt(url),
    query,
    async crash() {
      await end('SIGQUIT');
      await start();
    },
    stop: () => end('SIGINT'),
    start,
    async useCertificate(certificate) {
      for (const [name, text] of Object.entries(certificate ?? {})) {
        const file = join(data, `server.${name === 'cert' ? 'crt' : 'key'}`);
        writeFileSync(file, text, { mode: 0o600 });
        if (owner) chownSync(file, owner.uid, owner.gid);
      }
      await query(`ALTER SYSTEM SET ssl = ${certificate ? 'on' : 'off'}`);
      await query('SELECT pg_reload_conf()');
    },
    async close() {
      await end('SIGQUIT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Gives the tests of a file a PostgreSQL server.
 * @param isOwn true if they stop it: otherwise it is one that all files of a run share, where scripts/test has started one
 */
export function usePostgres({ isOwn = false } = {}): () => PostgresServer {
  let server: PostgresServer | undefined;
  beforeAll(async () => {
    const shared = isOwn ? undefined : process.env[sharedVariable];
    server = shared === undefined ? await startPostgres() : shareServer(shared);
  });
  afterAll(() => server?.close());
  return () => {
    if (!server) throw new Error('the server is not started yet');
    return server;
  };
}

/** Names the URL of the shared server to the tests; scripts/test sets it. */
export const sharedVariable = 'GATEHOUSE_TEST_POSTGRES';

/** Runs a statement at a server. */
async function queryAt(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Creates a database of a name that no other test has. */
export async function createDatabaseAt(url: string): Promise<string> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await queryAt(url, `CREATE DATABASE ${name}`);
  return url.replace(/[^/]+$/, name);
}

function shareServer(url: string): PostgresServer {
  const refuse = async (): Promise<never> => {
    throw new Error('this server is shared: use one of its own');
  };
  return {
    url,
    createDatabase: () => createDatabaseAt(url),
    query: (sql) => queryAt(url, sql),
    ...{ crash: refuse, stop: refuse, start: refuse, useCertificate: refuse },
    close: async () => undefined,
  };
}

/** Returns the user as whom servers run: they refuse to run as root. Undefined for the user of the tests. */
export function serverOwner(): { uid: number; gid: number } | undefined {
  return process.getuid?.() === 0 ? idsOf('postgres') : undefined;
}

function idsOf(user: string): { uid: number; gid: number } {
  const id = (flag: string): number => Number(spawnSync('id', [flag, user], { encoding: 'utf8' }).stdout);
  return { uid: id('-u'), gid: id('-g') };
}
