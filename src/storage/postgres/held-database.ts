import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { StorageFault } from '../storage.ts';
import {
  applicationName,
  type ConnectionOptions,
  driverOptions,
  hasPort,
  isAlive,
} from './connection/database.ts';
import { isBeyondProgram } from './connection/errors.ts';
import { versionOf } from './connection/migrate.ts';
import { programSchema } from './connection/schema.ts';

/** Time in which the connections of a stopped server must have ended, and pause between looks, in milliseconds. */
const waiting = { totalMs: 2_000, pauseMs: 100 } as const;

/**
 * Returns the limits of a transaction of an operator's command. One that has the database for itself may take hours, and be
 * idle in between; otherwise servers wait, and must go on if the machine of the command is lost.
 */
function limitsOf(exclusively: boolean): string {
  return `SET LOCAL lock_timeout = '5s'; SET LOCAL statement_timeout = ${exclusively ? 0 : "'60s'"};
    SET LOCAL idle_in_transaction_session_timeout = ${exclusively ? 0 : "'10s'"}; SET LOCAL synchronous_commit = on`;
}

/** SQLSTATE of a lock that another transaction did not release in time. */
const lockNotAvailable = '55P03';

/** Describes a database by its address and name. */
export function describeDatabase(url: string): string {
  const { host, pathname } = new URL(url);
  return `the PostgreSQL database ${decodeURIComponent(pathname.slice(1))} at ${host}`;
}

/**
 * Waits until no server uses a database. Connections are seen if no pooler stands in between, which keeps those of
 * servers that have ended.
 * @throws StorageFault if one still does
 */
async function untilUnused(client: pg.Client, { pooled = false }: ConnectionOptions): Promise<void> {
  const deadline = performance.now() + waiting.totalMs;
  for (;;) {
    const { rows } = await client.query<{ usedBy: string }>(
      `SELECT CASE WHEN ${hasPort} THEN 'the node ' ELSE 'a server on ' END || address AS "usedBy"
         FROM nodes WHERE ${isAlive}
       UNION ALL
       SELECT 'a server or command on ' || coalesce(host(client_addr), 'this machine') FROM pg_stat_activity
         WHERE $1 AND datname = current_database() AND usename = current_user
           AND application_name LIKE '${applicationName}/%' AND pid <> pg_backend_pid()`,
      [!pooled],
    );
    const [found] = rows;
    if (!found) return;
    if (performance.now() > deadline)
      throw new StorageFault(
        `The database is in use by ${found.usedBy}. Stop every server first; nothing was changed.`,
      );
    await sleep(waiting.pauseMs);
  }
}

/**
 * Connects to a database, and begins a transaction in which nobody else writes. The caller commits it and ends the
 * connection.
 * @param options.exclusively refuses a database that a server uses, and sees one state of it; otherwise the writers of
 * servers wait
 * @throws StorageFault if there is no installation, or the database is in use
 */
export async function holdDatabase(
  options: ConnectionOptions,
  { exclusively }: { exclusively: boolean },
): Promise<pg.Client> {
  // The statements of a write are sent together.
  const client = new pg.Client({ ...driverOptions(options), pipeline: true } as pg.ClientConfig);
  client.on('error', () => undefined);
  await client.connect();
  try {
    if ((await versionOf(client)) === 0)
      throw new StorageFault(
        `There is no installation in ${describeDatabase(options.url)}. Check its name in the URL; nothing was changed.`,
      );
    if (exclusively) {
      await untilUnused(client, options);
      // Its snapshot is taken behind the lock.
      await client.query(
        `BEGIN ISOLATION LEVEL REPEATABLE READ; ${limitsOf(true)}; LOCK TABLE commit_order IN ACCESS EXCLUSIVE MODE`,
      );
    } else
      await client.query(
        `BEGIN; ${limitsOf(false)}; UPDATE commit_order SET commits = commits + 1, schema = ${programSchema()}`,
      );
    return client;
  } catch (error) {
    await client.end();
    if (isBeyondProgram(error))
      throw new StorageFault(
        'The database was upgraded beyond this program. Use the newer program; nothing was changed.',
        { cause: error },
      );
    if ((error as { code?: unknown }).code === lockNotAvailable)
      throw new StorageFault('The database is in use. Stop every server first; nothing was changed.', {
        cause: error,
      });
    throw error;
  }
}
