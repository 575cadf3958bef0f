import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type SchemaUpgrade, StorageFault } from '../../storage.ts';
import { applicationName, type ConnectionOptions, driverOptions, hasPort, isAlive } from './database.ts';
import { type Migration, migrationFolder, readMigrations } from './schema.ts';

/** Settings of the server without which an acknowledged write could be lost, and the oldest version. */
const rules: readonly { sql: string; holds: string; fault: string }[] = [
  { sql: 'SHOW fsync', holds: 'on', fault: 'fsync is off' },
  { sql: 'SHOW full_page_writes', holds: 'on', fault: 'full_page_writes is off' },
  { sql: 'SELECT pg_is_in_recovery()::text', holds: 'false', fault: 'the server is a read-only standby' },
  { sql: 'SHOW server_encoding', holds: 'UTF8', fault: 'the encoding of the database is not UTF8' },
];

const oldestServer = 15;

/** Maximum difference of the clocks of this machine and of the server, in seconds. */
const maxSkewSeconds = 5;

/** Names the lock of migrations among the advisory locks of a database: "gate" in ASCII. */
const migrationLock = 0x67617465;

/** The schema from which on a database names the oldest schema whose programs can use it. */
const firstRolling = 27;

/** Times of a step that has to wait, in milliseconds: between its attempts, the pause doubles; and in all. */
const waiting = { firstPauseMs: 250, longestPauseMs: 5_000, totalMs: 15 * 60_000 } as const;

/** Options of {@link migrate}. */
export interface MigrationOptions {
  /** Called before a database of an earlier version is upgraded. */
  beforeUpgrade?: ((upgrade: SchemaUpgrade) => void) | undefined;
  /** Called with the reason, a sentence, each time that an upgrade could not go on and waits. */
  onWait?: ((reason: string) => void) | undefined;
  /** Ends the wait. */
  signal?: AbortSignal | undefined;
  /** Folder of the migrations; default is that of this program. */
  folder?: URL;
}

/** The schema of a database. */
interface Schema {
  /** 0 if the database has none. */
  version: number;
  /** Oldest schema whose programs can use the database. */
  minReader: number;
}

/**
 * Brings a database to the schema of this program, one transaction per step: of two nodes that start at once one does it
 * and the other finds it done (T-174). Nodes of the schema before go on meanwhile and afterwards, if a step allows it; if
 * not, the step waits until they have left. A database of a newer schema stays as it is.
 * @throws StorageFault if this program is too old for the database, or the server cannot be trusted with writes
 */
export async function migrate(
  options: ConnectionOptions,
  { beforeUpgrade, onWait = () => undefined, signal, folder = migrationFolder }: MigrationOptions = {},
): Promise<void> {
  const client = new pg.Client(driverOptions(options));
  client.on('error', () => undefined);
  await client.connect();
  try {
    await checkServer(client);
    const migrations = readMigrations(folder);
    const newest = migrations.at(-1)?.version ?? 0;
    const before = await readSchema(client);
    if (before.minReader > newest)
      throw new StorageFault(
        `The database is of schema ${before.version} and can be used by programs that know schema ${before.minReader}; this program knows schemas up to ${newest}. Use the newer program, or restore a backup from before the upgrade.`,
      );
    const due = migrations.filter(({ version }) => version > before.version);
    if (before.version > 0 && due.length > 0)
      beforeUpgrade?.({
        ...{ from: before.version, to: newest },
        minReader: Math.max(before.minReader, ...due.map(({ minReader }) => minReader)),
      });
    const deadline = performance.now() + waiting.totalMs;
    for (const step of due) {
      let pauseMs: number = waiting.firstPauseMs;
      for (;;) {
        const reason = await attempt(client, step, options);
        if (reason === undefined) break;
        if (performance.now() > deadline)
          throw new StorageFault(`The database could not be upgraded. ${reason} Then start again.`);
        onWait(reason);
        await sleep(pauseMs, undefined, signal && { signal });
        pauseMs = Math.min(2 * pauseMs, waiting.longestPauseMs);
      }
    }
  } finally {
    await client.end();
  }
}

/** SQLSTATEs of a lock that was not obtained in time, and of a deadlock. */
const lockFaults: ReadonlySet<unknown> = new Set(['55P03', '40P01']);

/**
 * Applies a step, if nobody has applied it yet. Behind its turn among the writers it deadlocks with none of them; they wait
 * until it ends.
 * @returns why it must be tried again: a sentence; undefined if the step is applied
 */
async function attempt(
  client: pg.Client,
  step: Migration,
  options: ConnectionOptions,
): Promise<string | undefined> {
  const { version, sql, minReader } = step;
  try {
    await client.query(
      `BEGIN; SET LOCAL lock_timeout = '2s'; SELECT pg_advisory_xact_lock(${migrationLock})`,
    );
    const before = await readSchema(client);
    if (before.version < version) {
      if (before.version >= firstRolling)
        await client.query(
          `UPDATE commit_order SET schema = ${version}, min_reader = greatest(min_reader, ${minReader})`,
        );
      const reason =
        before.version >= firstRolling && minReader > before.minReader
          ? await findOlderProgram(client, minReader, options)
          : undefined;
      if (reason !== undefined) {
        await client.query('ROLLBACK');
        return reason;
      }
      await client.query(
        `${sql};
         CREATE TABLE IF NOT EXISTS schema_version (id smallint PRIMARY KEY CHECK (id = 1), version integer NOT NULL);
         INSERT INTO schema_version VALUES (1, ${version}) ON CONFLICT (id) DO UPDATE SET version = ${version}`,
      );
    }
    await client.query('COMMIT');
    return undefined;
  } catch (error) {
    if (!lockFaults.has((error as { code?: unknown }).code)) throw error;
    await client.query('ROLLBACK');
    return 'Another program has locked a table that the upgrade changes, or upgrades the database itself: let it end, or stop it.';
  }
}

/** Describes a program that is connected and could not use the database after a step; undefined if there is none. */
async function findOlderProgram(
  client: pg.Client,
  minReader: number,
  { pooled = false }: ConnectionOptions,
): Promise<string | undefined> {
  const { rows } = await client.query<{ place: string; schema: number }>(
    `SELECT CASE WHEN ${hasPort} THEN 'The node ' ELSE 'The server on ' END || address || ' (version ' || version || ')' AS place, schema FROM nodes
       WHERE ${isAlive} AND schema < $1
     UNION ALL
     SELECT 'A server or command on ' || coalesce(host(client_addr), 'this machine'), schema
       FROM (SELECT client_addr, substring(application_name FROM '^${applicationName}/([0-9]{1,9})$')::integer AS schema
               FROM pg_stat_activity
               WHERE $2 AND datname = current_database() AND pid <> pg_backend_pid()) AS connected
       WHERE schema < $1`,
    // Behind a pooler, connections outlive the programs that they are named after.
    [minReader, !pooled],
  );
  const [found] = rows;
  return (
    found && `${found.place} knows schema ${found.schema} and could not use the upgraded database: stop it.`
  );
}

async function findValue(client: Pick<pg.Client, 'query'>, sql: string): Promise<unknown> {
  const { rows } = await client.query<Record<string, unknown>>(sql);
  return Object.values(rows[0] ?? {})[0];
}

/** Returns the schema version of a database; 0 if it has none. */
export async function versionOf(client: Pick<pg.Client, 'query'>): Promise<number> {
  // A query of a table learns of tables that were made while this transaction waited; to_regclass alone may not.
  const table = await findValue(
    client,
    "SELECT 1 FROM pg_catalog.pg_class WHERE oid = to_regclass('schema_version')",
  );
  if (table === undefined) return 0;
  return Number(await findValue(client, 'SELECT version FROM schema_version'));
}

async function readSchema(client: Pick<pg.Client, 'query'>): Promise<Schema> {
  const version = await versionOf(client);
  if (version < firstRolling) return { version, minReader: 0 };
  return { version, minReader: Number(await findValue(client, 'SELECT min_reader FROM commit_order')) };
}

async function checkServer(client: pg.Client): Promise<void> {
  const version = Number(await findValue(client, 'SHOW server_version_num'));
  const faults = version < oldestServer * 10_000 ? [`its version is older than ${oldestServer}`] : [];
  for (const { sql, holds, fault } of rules) if ((await findValue(client, sql)) !== holds) faults.push(fault);
  if ((await findValue(client, 'SHOW synchronous_commit')) === 'off')
    faults.push('synchronous_commit is off');
  const serverTime = Number(await findValue(client, 'SELECT extract(epoch FROM clock_timestamp())'));
  const skew = Math.abs(serverTime - Date.now() / 1000);
  if (skew > maxSkewSeconds)
    faults.push(`its clock differs from this machine's by ${Math.round(skew)} seconds`);
  if (faults.length > 0)
    throw new StorageFault(`This PostgreSQL server is not safe to use: ${faults.join('; ')}.`);
}
