import pg from 'pg';
import { leaseSeconds } from '../../nodes.ts';
import { StorageFault } from '../../storage.ts';
import { CommitUnknown, toUnavailable } from './errors.ts';
import { programSchema } from './schema.ts';

/** A value of a parameter. */
export type Value = Scalar | undefined | readonly Scalar[];

type Scalar = string | number | boolean | null | Uint8Array;

/** Runs statements; parameters are `$1`, `$2` and so on. SQL texts must be constants: each is prepared once. */
export interface Statements {
  /** Returns all rows. */
  rows<Row>(sql: string, values?: readonly Value[]): Promise<Row[]>;
  /** Returns the first row; undefined if there is none. */
  row<Row>(sql: string, values?: readonly Value[]): Promise<Row | undefined>;
  /** Returns the number of rows changed. */
  run(sql: string, values?: readonly Value[]): Promise<number>;
}

/** Reads outside a transaction, from any connection of the pool: each statement sees all that was committed before. */
export interface Database extends Statements {
  close(): Promise<void>;
}

/** Statements and transactions of a purpose of its own, beside the serial writes of the installation. */
export interface TransactionPool extends Database {
  /**
   * Runs work in a transaction, which is undone if the work throws.
   * @param settings statements after `BEGIN`
   * @throws CommitUnknown if the connection was lost during the commit
   * @throws StorageUnavailable
   */
  transact<T>(settings: string, work: (tx: Statements) => Promise<T>): Promise<T>;
}

/** Connection to a PostgreSQL database. */
export interface ConnectionOptions {
  /** `postgres://user:password@host:port/database?sslmode=verify-full` */
  url: string;
  /**
   * Maximum number of connections for reads. One more writes, {@link counterConnections} count for rate limits, and twice
   * {@link ledgerConnections} write and read the call ledger.
   */
  poolSize?: number;
  /** True if a pooler in transaction mode stands before the server: nothing is prepared by name. */
  pooled?: boolean;
}

/** Maximum number of connections for counters. */
export const counterConnections = 3;

/** Maximum number of connections that write to the call ledger, and of those that read it. */
export const ledgerConnections = 2;

/** Name of our connections; the schema that the program knows follows it behind a slash. */
export const applicationName = 'gatehouse';

/** Condition for rows of `nodes`. */
export const isAlive = `beat_at > clock_timestamp() - interval '${leaseSeconds} seconds'`;

/** Condition for rows of `nodes`: other nodes can reach it. A server that has no port names only its machine. */
export const hasPort = "strpos(address, ':') > 0";

/** Time to open a connection, and to answer a read, in milliseconds. */
const timeouts = { connectMs: 5_000, readMs: 5_000 } as const;

/** Names of prepared statements: the same SQL has one name in every connection. */
const names = new Map<string, string>();

function nameOf(sql: string): string {
  let name = names.get(sql);
  if (name === undefined) {
    name = `gatehouse_${names.size + 1}`;
    names.set(sql, name);
  }
  return name;
}

/** Numbers arrive as numbers: `bigint` within the safe integers (counts, epoch times, positions). */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8
      ? toSafeInteger
      : pg.types.getTypeParser(oid, format)) as pg.CustomTypesConfig['getTypeParser'],
};

function toSafeInteger(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number)) throw new RangeError('a number of the database is beyond 2^53');
  return number;
}

/** PostgreSQL holds no NUL in a text: it becomes U+FFFD, as a lone surrogate does in any database. */
function toParameter(value: Value): unknown {
  if (typeof value === 'string') return value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value;
  if (Array.isArray(value)) return value.map(toParameter);
  return value instanceof Uint8Array && !Buffer.isBuffer(value) ? Buffer.from(value) : (value ?? null);
}

/** Wraps a client or pool of the driver. */
export function createStatements(
  target: Pick<pg.Client, 'query'>,
  { pooled = false }: Pick<ConnectionOptions, 'pooled'>,
): Statements {
  async function query(sql: string, values: readonly Value[] = []): Promise<pg.QueryResult> {
    const text = { text: sql, values: values.map(toParameter) };
    return target.query(pooled ? text : { ...text, name: nameOf(sql) });
  }
  return {
    rows: async <Row>(sql: string, values?: readonly Value[]) => (await query(sql, values)).rows as Row[],
    row: async <Row>(sql: string, values?: readonly Value[]) =>
      (await query(sql, values)).rows[0] as Row | undefined,
    run: async (sql, values) => (await query(sql, values)).rowCount ?? 0,
  };
}

/** Returns whether a database is on this machine: on loopback, or behind a socket in a folder. */
function isLocal(url: string): boolean {
  const parsed = URL.parse(url);
  // The driver prefers a host among the parameters.
  const host = parsed?.searchParams.get('host') ?? parsed?.hostname ?? '';
  return /^$|^\/|^(localhost|127(\.\d+){3}|\[?::1\]?)$/.test(host);
}

/** Returns the settings of a connection for the driver. */
export function driverOptions({ url }: ConnectionOptions): pg.ClientConfig {
  if (!/^postgres(ql)?:\/\//.test(url))
    throw new StorageFault('The URL of the database must begin with postgres:// or postgresql://.');
  if (!isLocal(url) && !/[?&]sslmode=/.test(url))
    throw new StorageFault(
      'The URL of a database on another machine must say how the connection is protected: add sslmode=verify-full, or sslmode=disable if nobody else can read this network.',
    );
  return {
    connectionString: url,
    application_name: `${applicationName}/${programSchema()}`,
    connectionTimeoutMillis: timeouts.connectMs,
    keepAlive: true,
    types,
  };
}

/**
 * Opens a pool of connections, for reads and for statements that stand alone.
 * @param purpose names what fails in the error of an outage
 */
export function openPool(options: ConnectionOptions, purpose: 'read' | 'written' = 'read'): Database {
  return toDatabase(createPool(options), options, purpose);
}

/** Opens a pool of connections for transactions, which send their statements without waiting for those before. */
export function openTransactionPool(options: ConnectionOptions): TransactionPool {
  const pool = createPool({ ...options, pipeline: true });
  return {
    ...toDatabase(pool, options, 'written'),
    async transact(settings, work) {
      try {
        return await transact(pool, options, settings, work);
      } catch (error) {
        throw toUnavailable(error, 'written');
      }
    },
  };
}

function createPool({ pipeline = false, ...options }: ConnectionOptions & { pipeline?: boolean }): pg.Pool {
  const pool = new pg.Pool({
    ...driverOptions(options),
    max: options.poolSize ?? 10,
    query_timeout: timeouts.readMs,
    // The last idle ones end: a balancer or firewall between would cut them unnoticed.
    idleTimeoutMillis: 60_000,
    pipeline,
  } as pg.PoolConfig);
  // A connection that is lost while idle is replaced at the next read.
  pool.on('error', () => undefined);
  return pool;
}

function toDatabase(pool: pg.Pool, options: ConnectionOptions, purpose: 'read' | 'written'): Database {
  const statements = createStatements(pool as unknown as pg.Client, options);
  const reading =
    <Args extends unknown[], T>(read: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      try {
        return await read(...args);
      } catch (error) {
        throw toUnavailable(error, purpose);
      }
    };
  let ended: Promise<void> | undefined;
  return {
    rows: reading(statements.rows) as Database['rows'],
    row: reading(statements.row) as Database['row'],
    run: reading(statements.run),
    close() {
      ended ??= pool.end();
      return ended;
    },
  };
}

async function transact<T>(
  pool: pg.Pool,
  options: ConnectionOptions,
  settings: string,
  work: (tx: Statements) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  // The statement that runs fails with it, or the next one.
  const ignore = (): void => undefined;
  client.on('error', ignore);
  let isDone = false;
  try {
    const begun = client.query(`BEGIN; ${settings}`);
    const [, result] = await Promise.all([begun, work(createStatements(client, options))]);
    await client.query('COMMIT').catch((cause: unknown) => {
      throw new CommitUnknown({ cause });
    });
    isDone = true;
    return result;
  } finally {
    client.off('error', ignore);
    // A connection that ends takes its transaction with it.
    client.release(!isDone);
  }
}
