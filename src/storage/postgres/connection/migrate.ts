import { readdirSync, readFileSync } from 'node:fs';
import pg from 'pg';
import { packageFile } from '../../../package-files.ts';
import { type SchemaUpgrade, StorageFault } from '../../storage.ts';
import { type ConnectionOptions, driverOptions } from './database.ts';

const folder = packageFile('migrations/postgres/');

interface Migration {
  version: number;
  file: URL;
}

function listMigrations(): readonly Migration[] {
  return readdirSync(folder)
    .filter((name) => /^\d{4}_\w+\.sql$/.test(name))
    .sort()
    .map((name) => ({ version: Number(name.slice(0, 4)), file: new URL(name, folder) }));
}

/** Returns the schema version of this program. */
function newestVersion(): number {
  return listMigrations().at(-1)?.version ?? 0;
}

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

/**
 * Brings a database to the schema of this program, one transaction per step: of two nodes that start at once one does it
 * and the other finds it done (T-174).
 * @param beforeUpgrade called before a database of an earlier version is upgraded
 * @throws StorageFault if the database is of a newer program, or the server cannot be trusted with writes
 */
export async function migrate(
  options: ConnectionOptions,
  beforeUpgrade?: (upgrade: SchemaUpgrade) => void,
): Promise<void> {
  const client = new pg.Client(driverOptions(options));
  client.on('error', () => undefined);
  await client.connect();
  try {
    await checkServer(client);
    const migrations = listMigrations();
    const newest = newestVersion();
    const before = await versionOf(client);
    if (before > newest)
      throw new StorageFault(
        `The database is of schema ${before}, this program knows schemas up to ${newest}. Use the newer program that wrote it, or restore a backup from before the upgrade.`,
      );
    if (before > 0 && before < newest) beforeUpgrade?.({ from: before, to: newest });
    for (const { version, file } of migrations) {
      if (version <= before) continue;
      await client.query(`BEGIN; SELECT pg_advisory_xact_lock(${migrationLock})`);
      if ((await versionOf(client)) < version)
        await client.query(
          `${readFileSync(file, 'utf8')};
           CREATE TABLE IF NOT EXISTS schema_version (id smallint PRIMARY KEY CHECK (id = 1), version integer NOT NULL);
           INSERT INTO schema_version VALUES (1, ${version}) ON CONFLICT (id) DO UPDATE SET version = ${version}`,
        );
      await client.query('COMMIT');
    }
  } finally {
    await client.end();
  }
}

async function findValue(client: Pick<pg.Client, 'query'>, sql: string): Promise<unknown> {
  const { rows } = await client.query<Record<string, unknown>>(sql);
  return Object.values(rows[0] ?? {})[0];
}

/** Returns the schema version of a database; 0 if it has none. */
export async function versionOf(client: Pick<pg.Client, 'query'>): Promise<number> {
  if ((await findValue(client, "SELECT to_regclass('schema_version')::text")) === null) return 0;
  return Number(await findValue(client, 'SELECT version FROM schema_version'));
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
