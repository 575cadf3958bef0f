import type pg from 'pg';
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
import { StorageFault } from '../storage.ts';
import { type ConnectionOptions, createStatements } from './connection/database.ts';
import { toOpeningFault } from './connection/errors.ts';
import { migrate, versionOf } from './connection/migrate.ts';
import { describeDatabase, holdDatabase } from './held-database.ts';
import { requireNotMoved } from './installation.ts';
import { createScheduleBox } from './key-schedule.ts';
import { escapeNul, unescapeNul } from './storage.ts';

/** A database to copy from or to. */
export interface CopyPlace extends ConnectionOptions {
  /** Returns the master key, under which the keys of the installation are sealed. */
  masterKey: () => Promise<SealingKey>;
}

/** Settings of the transaction of a copy: the tables of the target have no statistics, so that its indexes must be used. */
const planner =
  'SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off';

type ScheduleBox = ReturnType<typeof createScheduleBox>;

const now = (): number => Math.floor(Date.now() / 1000);

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
    description: describeDatabase(url),
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
    const client = await holdDatabase(place, { exclusively: true });
    await client.query(planner);
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
    const client = await holdDatabase(place, { exclusively: true });
    await client.query(planner);
    try {
      await requireEmpty(client, describeDatabase(place.url));
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
