import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { freePort } from '../free-port.ts';

/** A PostgreSQL server of its own, on loopback. */
export interface PostgresServer {
  /** Creates an empty database and returns its URL. */
  createDatabase: () => Promise<string>;
  /** Runs statements as the owner of the server. */
  query: (sql: string) => Promise<unknown[]>;
  /** Stops the server as a crash would and starts it again. */
  crash: () => Promise<void>;
  /** Stops the server (`stop`) until it is started again. */
  stop: () => Promise<void>;
  start: () => Promise<void>;
  close: () => Promise<void>;
}

/** Returns the folder of PostgreSQL's programs; undefined if there is none. */
export function findPostgres(): string | undefined {
  const named = process.env.POSTGRES_BIN;
  if (named !== undefined) return named;
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  return versions
    .map((version) => join(debian, version, 'bin'))
    .find((bin) => existsSync(join(bin, 'initdb')));
}

/** Starts a server in a new folder: initdb takes two seconds, so tests of a file share one. */
export async function startPostgres(): Promise<PostgresServer> {
  const bin = findPostgres();
  if (bin === undefined) throw new Error('there is no PostgreSQL: install it, or set POSTGRES_BIN');
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-postgres-'));
  // PostgreSQL refuses to run as root.
  const owner = process.getuid?.() === 0 ? idsOf('postgres') : undefined;
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
  const urlOf = (database: string): string => `postgres://gatehouse@127.0.0.1:${port}/${database}`;
  const query = async (sql: string): Promise<unknown[]> => {
    const client = new pg.Client({ connectionString: urlOf('postgres') });
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  };
  const start = async (): Promise<void> => {
    const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`];
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
  let databases = 0;
  return {
    async createDatabase() {
      const name = `test_${process.pid}_${++databases}`;
      await query(`CREATE DATABASE ${name}`);
      return urlOf(name);
    },
    query,
    async crash() {
      await end('SIGQUIT');
      await start();
    },
    stop: () => end('SIGINT'),
    start,
    async close() {
      await end('SIGQUIT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starts a PostgreSQL server for the tests of a file. */
export function usePostgres(): () => PostgresServer {
  let server: PostgresServer | undefined;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.close());
  return () => {
    if (!server) throw new Error('the server is not started yet');
    return server;
  };
}

function idsOf(user: string): { uid: number; gid: number } {
  const id = (flag: string): number => Number(spawnSync('id', [flag, user], { encoding: 'utf8' }).stdout);
  return { uid: id('-u'), gid: id('-g') };
}
