import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { formatKeyFile, parseKeyFile } from '../../crypto/key-file.ts';
import type { SealingKey } from '../../crypto/sealed-box.ts';
import {
  type ColumnForm,
  type CopiedValue,
  type CopyEnd,
  type CopySource,
  type CopyTarget,
  copiedTables,
  keyOf,
  namesOf,
} from '../copied-tables.ts';
import { leaseSeconds } from '../nodes.ts';
import { StorageFault } from '../storage.ts';
import {
  applicationName,
  type ConnectionOptions,
  createStatements,
  driverOptions,
} from './connection/database.ts';
import { toOpeningFault } from './connection/errors.ts';
import { migrate, versionOf } from './connection/migrate.ts';
import { requireNotMoved } from './installation.ts';
import { createScheduleBox } from './key-schedule.ts';
import { escapeNul, unescapeNul } from './storage.ts';

/** A database to copy from or to. */
export interface CopyPlace extends ConnectionOptions {
  /** Returns the master key, under which the keys of the installation are sealed. */
  masterKey: () => Promise<SealingKey>;
}

/** Time in which the connections of a stopped server must have ended, and pause between looks, in milliseconds. */
const waiting = { totalMs: 2_000, pauseMs: 100 } as const;

/**
 * Begins the one transaction of a copy. Its snapshot is taken behind the lock of the writers. It may take hours and be
 * idle in between; the tables of the target have no statistics, so that the planner is told to use their indexes.
 */
const begin = `BEGIN ISOLATION LEVEL REPEATABLE READ; SET LOCAL lock_timeout = '5s'; SET LOCAL statement_timeout = 0;
  SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL synchronous_commit = on;
  SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off`;

/** SQLSTATE of a lock that another transaction did not release in time. */
const lockNotAvailable = '55P03';

type ScheduleBox = ReturnType<typeof createScheduleBox>;

const now = (): number => Math.floor(Date.now() / 1000);

/** Describes a database by its address and name. */
function describe(url: string): string {
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
    const { rows } = await client.query<{ address: string; isNode: boolean }>(
      `SELECT address, true AS "isNode" FROM nodes
         WHERE beat_at > clock_timestamp() - interval '${leaseSeconds} seconds'
       UNION ALL
       SELECT coalesce(host(client_addr), 'this machine'), false FROM pg_stat_activity
         WHERE $1 AND datname = current_database() AND usename = current_user
           AND application_name LIKE '${applicationName}/%' AND pid <> pg_backend_pid()`,
      [!pooled],
    );
    const [found] = rows;
    if (!found) return;
    if (performance.now() > deadline)
      throw new StorageFault(
        `The database is in use by ${found.isNode ? `the node ${found.address}` : `a server or command on ${found.address}`}. Stop every server first; nothing was changed.`,
      );
    await sleep(waiting.pauseMs);
  }
}

/** Connects to a database, and begins a transaction in which no server can write. */
async function hold(options: ConnectionOptions): Promise<pg.Client> {
  const client = new pg.Client(driverOptions(options));
  client.on('error', () => undefined);
  await client.connect();
  try {
    if ((await versionOf(client)) === 0)
      throw new StorageFault(`There is no installation in ${describe(options.url)}. Nothing was copied.`);
    await untilUnused(client, options);
    await client.query(begin);
    await client.query('LOCK TABLE commit_order IN ACCESS EXCLUSIVE MODE');
    return client;
  } catch (error) {
    await client.end();
    if ((error as { code?: unknown }).code === lockNotAvailable)
      throw new StorageFault('The database is in use. Stop every server first; nothing was changed.', {
        cause: error,
      });
    throw error;
  }
}

/** A connection whose failures are faults that say what to do. */
type Queries = Pick<pg.Client, 'query' | 'end'>;

/** @throws StorageFault in place of the errors of the driver */
function explaining(client: pg.Client): Queries {
  const query = async (...args: unknown[]): Promise<unknown> => {
    try {
      return await (client.query as (...args: unknown[]) => Promise<unknown>).apply(client, args);
    } catch (error) {
      throw toOpeningFault(error);
    }
  };
  return { query: query as pg.Client['query'], end: () => client.end() };
}

/** Creates the part that source and target share. */
async function createEnd(
  client: Queries,
  url: string,
  box: ScheduleBox,
): Promise<
  Pick<
    CopyEnd,
    'schemaVersion' | 'description' | 'count' | 'read' | 'lastNumber' | 'readKeys' | 'commit' | 'close'
  >
> {
  return {
    schemaVersion: await versionOf(client),
    description: describe(url),
    async count({ name }) {
      const { rows } = await client.query<{ rows: number }>(`SELECT count(*) AS rows FROM "${name}"`);
      return rows[0]?.rows ?? 0;
    },
    async read(table, after) {
      const { name, key, columns, batch } = table;
      const place = `(${key.join(', ')}) > (${key.map((_name, index) => `$${index + 1}`).join(', ')})`;
      const { rows } = await client.query<unknown[]>({
        text: `SELECT ${namesOf(table)} FROM "${name}" ${after ? `WHERE ${place}` : ''}
          ORDER BY ${key.join(', ')} LIMIT ${batch}`,
        values: after ? keyOf(table, after) : [],
        rowMode: 'array',
      });
      const forms = Object.values(columns);
      return rows.map((row) => row.map((value, index) => toCopied(value, forms[index])));
    },
    async lastNumber({ name, numbered }) {
      const sequence = await sequenceOf(client, name, numbered);
      const { rows } = await client.query<{ number: number }>(
        sequence === null
          ? `SELECT changes AS number FROM change_marks WHERE name = '${name}'`
          : `SELECT last_value - CASE WHEN is_called THEN 0 ELSE 1 END AS number FROM ${sequence}`,
      );
      return rows[0]?.number ?? 0;
    },
    async readKeys() {
      const { rows } = await client.query<{ sealed: Buffer }>('SELECT sealed FROM key_schedule');
      return formatKeyFile(box.open(rows[0]?.sealed));
    },
    async commit() {
      try {
        await client.query('COMMIT');
      } catch (cause) {
        throw new StorageFault(
          'The connection to PostgreSQL was lost while the copy was committed. The source was not marked as moved. If the target has an installation now, drop it and copy again.',
          { cause },
        );
      }
    },
    // What was not committed is rolled back with the connection.
    close: () => client.end(),
  };
}

/** Returns the name of the sequence that numbers a table; null if its numbers are counted by a change mark. */
async function sequenceOf(
  client: Queries,
  table: string,
  column: string | undefined,
): Promise<string | null> {
  const { rows } = await client.query<{ sequence: string | null }>(
    'SELECT pg_get_serial_sequence($1, $2) AS sequence',
    [table, column],
  );
  return rows[0]?.sequence ?? null;
}

function toCopied(value: unknown, form: ColumnForm | undefined): CopiedValue {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return form === 'freeText' && typeof value === 'string' ? unescapeNul(value) : (value as CopiedValue);
}

/** Types of the columns of a batch that is written. */
const arrayTypes: Readonly<Record<ColumnForm, string>> = {
  text: 'text[]',
  freeText: 'text[]',
  number: 'bigint[]',
  boolean: 'boolean[]',
  bytes: 'bytea[]',
};

function toParameter(value: CopiedValue | undefined, form: ColumnForm): unknown {
  if (value === null || value === undefined) return null;
  if (form === 'boolean') return value === 1;
  return form === 'freeText' ? escapeNul(String(value)) : value;
}

/**
 * Opens an installation on PostgreSQL to copy it: its writers wait until the copy ends.
 * @throws StorageFault, KeyFileFault with a sentence that says what to do
 */
export async function openCopySource(place: CopyPlace): Promise<CopySource> {
  try {
    const client = await hold(place);
    try {
      await requireNotMoved(createStatements(client, { pooled: true }));
      const box = createScheduleBox(await place.masterKey(), now);
      const queries = explaining(client);
      return {
        ...(await createEnd(queries, place.url, box)),
        findNul: async () => [],
        async markMoved(to) {
          await queries.query('UPDATE installation SET moved_to = $1', [to]);
          // A server that was not seen cannot write any more either.
          await queries.query(
            'ALTER TABLE commit_order ADD CONSTRAINT installation_has_moved CHECK (false) NOT VALID',
          );
        },
      };
    } catch (error) {
      await client.end();
      throw error;
    }
  } catch (error) {
    throw toOpeningFault(error);
  }
}

/**
 * Opens an empty PostgreSQL database to copy an installation to. Its tables are created if it has none.
 * @throws StorageFault with a sentence that says what to do
 */
export async function openCopyTarget(place: CopyPlace): Promise<CopyTarget> {
  try {
    await migrate(place);
    const client = await hold(place);
    try {
      await requireEmpty(client, describe(place.url));
      await client.query('DELETE FROM mcp_session_total');
      await switchTriggers(client, 'DISABLE');
      const box = createScheduleBox(await place.masterKey(), now);
      const queries = explaining(client);
      return toTarget(queries, box, await createEnd(queries, place.url, box));
    } catch (error) {
      await client.end();
      throw error;
    }
  } catch (error) {
    throw toOpeningFault(error);
  }
}

/** @throws StorageFault if a table has rows */
async function requireEmpty(client: Queries, description: string): Promise<void> {
  const tables = copiedTables.map(({ name }) => name).filter((name) => name !== 'mcp_session_total');
  const { rows } = await client.query(
    ['key_schedule', ...tables]
      .map((name) => `(SELECT '${name}' FROM "${name}" LIMIT 1)`)
      .join(' UNION ALL '),
  );
  if (rows.length > 0)
    throw new StorageFault(
      `There is an installation in ${description} already. Name an empty database, or drop its schema first; nothing was changed.`,
    );
}

/** Switches the triggers of all copied tables, as their owner may; foreign keys are checked all the same. */
async function switchTriggers(client: Queries, to: 'ENABLE' | 'DISABLE'): Promise<void> {
  for (const { name } of copiedTables) await client.query(`ALTER TABLE "${name}" ${to} TRIGGER USER`);
}

function toTarget(client: Queries, box: ScheduleBox, end: Awaited<ReturnType<typeof createEnd>>): CopyTarget {
  return {
    ...end,
    async write(table, rows) {
      if (rows.length === 0) return;
      const { name, columns } = table;
      const forms = Object.values(columns);
      const arrays = forms.map((form, index) => `$${index + 1}::${arrayTypes[form]}`);
      await client.query(
        `INSERT INTO "${name}" (${namesOf(table)}) SELECT * FROM unnest(${arrays.join(', ')})`,
        forms.map((form, index) => rows.map((row) => toParameter(row[index], form))),
      );
    },
    async setLastNumber({ name, numbered }, number) {
      const sequence = await sequenceOf(client, name, numbered);
      if (sequence === null)
        await client.query(
          `INSERT INTO change_marks (name, changes) VALUES ($1, $2)
           ON CONFLICT (name) DO UPDATE SET changes = excluded.changes`,
          [name, number],
        );
      // Unlike setval it is undone with the transaction.
      else await client.query(`ALTER TABLE "${name}" ALTER COLUMN ${numbered} RESTART WITH ${number + 1}`);
    },
    async writeKeys(text) {
      const sealed = box.seal(parseKeyFile(text, now()));
      await client.query('INSERT INTO key_schedule (id, sealed) VALUES (1, $1)', [sealed]);
    },
    async commit() {
      await switchTriggers(client, 'ENABLE');
      await end.commit();
    },
  };
}
