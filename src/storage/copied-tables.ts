/**
 * Form of a column in both databases. `freeText` may have NUL characters, which PostgreSQL stores escaped; `boolean` is 0
 * or 1 in SQLite.
 */
export type ColumnForm = 'text' | 'freeText' | 'number' | 'boolean' | 'bytes';

/** A table that goes along when an installation moves to another database. */
export interface CopiedTable {
  name: string;
  /** Columns that identify a row; rows are read in their order. */
  key: readonly string[];
  columns: Readonly<Record<string, ColumnForm>>;
  /** Column with numbers that the database assigns. */
  numbered?: string;
  /** Rows in memory at once. */
  batch: number;
}

/** A value of a row; booleans are 0 and 1. */
export type CopiedValue = string | number | Uint8Array | null;

/** Values of a row, in the order of the columns. */
export type CopiedRow = readonly CopiedValue[];

/** Returns the columns of a table as SQL, in their order. */
export function namesOf({ columns }: CopiedTable): string {
  return Object.keys(columns)
    .map((name) => `"${name}"`)
    .join(', ');
}

/** Returns the values of the key in a row of a table. */
export function keyOf({ key, columns }: CopiedTable, row: CopiedRow): CopiedValue[] {
  const names = Object.keys(columns);
  return key.map((name) => row[names.indexOf(name)] ?? null);
}

/** A database that an installation is copied from or to, held so that nobody else changes it. */
export interface CopyEnd {
  schemaVersion: number;
  /** Describes the place, without secrets. */
  description: string;
  count(table: CopiedTable): Promise<number>;
  /**
   * Reads the next batch of rows in the order of the key.
   * @param after the last row of the batch before
   */
  read(table: CopiedTable, after: CopiedRow | undefined): Promise<CopiedRow[]>;
  /** Returns the highest number that the database has assigned in a table, also if its row is gone. */
  lastNumber(table: CopiedTable): Promise<number>;
  /** Returns the keys of the installation as the text of a key file. @throws KeyFileFault */
  readKeys(): Promise<string>;
  /** Makes what was done durable and visible. */
  commit(): Promise<void>;
  /** Undoes all that was not committed, and lets go of the database. */
  close(): Promise<void>;
}

/** An installation that is copied. No server uses it, and none can start meanwhile. */
export interface CopySource extends CopyEnd {
  /** Returns the columns with texts that the target could not hold, with the number of rows. */
  findNul(table: CopiedTable): Promise<{ column: string; rows: number }[]>;
  /** Marks the installation as moved: servers refuse it once that is committed. */
  markMoved(to: string): Promise<void>;
}

/** An empty database with the schema of this program, in which no trigger fires. */
export interface CopyTarget extends CopyEnd {
  write(table: CopiedTable, rows: readonly CopiedRow[]): Promise<void>;
  /** Lets the numbers of a table go on behind this one. */
  setLastNumber(table: CopiedTable, number: number): Promise<void>;
  writeKeys(text: string): Promise<void>;
}

const text = 'text';
const number = 'number';
const boolean = 'boolean';
const bytes = 'bytes';

const batch = 1_000;

/** Rows of tables whose texts may be large. */
const smallBatch = 50;

/**
 * The tables of an installation, parents before what refers to them. The mark of a session's node is not among the
 * columns: no node is alive during a copy.
 */
export const copiedTables: readonly CopiedTable[] = [
  { name: 'installation', key: ['id'], columns: { id: number, canary: bytes, probes: number }, batch },
  {
    name: 'accounts',
    key: ['id'],
    columns: { id: text, email: text, password_hash: text, created_at: number, disabled_at: number },
    batch,
  },
  {
    name: 'passkeys',
    key: ['id'],
    columns: {
      ...{ id: text, account_id: text, name: text, public_key: bytes, counter: number, is_synced: boolean },
      ...{ transports: text, created_at: number, used_at: number },
    },
    batch,
  },
  {
    name: 'one_time_codes',
    key: ['account_id'],
    columns: { account_id: text, secret: bytes, last_step: number, created_at: number },
    batch,
  },
  { name: 'recovery_codes', key: ['account_id', 'id'], columns: { account_id: text, id: text }, batch },
  {
    name: 'identities',
    key: ['issuer', 'subject'],
    columns: { issuer: text, subject: text, account_id: text, created_at: number },
    batch,
  },
  {
    name: 'clients',
    key: ['id'],
    columns: {
      ...{ id: text, payload: bytes, created_at: number, used_at: number, origin: text, status: text },
      ...{ decided_at: number, token_hash: text },
    },
    batch,
  },
  {
    name: 'client_documents',
    key: ['url'],
    columns: { url: text, payload: bytes, fetched_at: number, fresh_until: number },
    batch: smallBatch,
  },
  {
    name: 'invitations',
    key: ['id'],
    columns: { id: text, uses_left: number, created_at: number, expires_at: number },
    batch,
  },
  {
    name: 'upstream_links',
    key: ['id'],
    columns: {
      ...{ id: text, account_id: text, upstream: text, issuer: text, subject: text, profile: bytes },
      ...{ tokens: bytes, generation: number, expires_at: number, proved_at: number },
      ...{ unreachable_since: number, is_kept: boolean, wanted_scopes: text, leased_until: number },
      linked_at: number,
    },
    batch,
  },
  {
    name: 'upstream_sessions',
    key: ['id'],
    columns: { id: text, link_id: text, sid: text, at: number },
    batch,
  },
  { name: 'upstream_unheld', key: ['link_id'], columns: { link_id: text, look_at: number }, batch },
  {
    name: 'upstream_revocations',
    key: ['id'],
    columns: {
      ...{ id: number, upstream: text, link_id: text, account_id: text, tokens: bytes, attempts: number },
      ...{ first_tried_at: number, next_at: number },
    },
    numbered: 'id',
    batch,
  },
  {
    name: 'grants',
    key: ['number'],
    columns: {
      ...{ number, id: text, account_id: text, client_id: text, payload: bytes, expires_at: number },
      ...{ used_at: number, upstream_session_id: text },
    },
    numbered: 'number',
    batch,
  },
  {
    name: 'artifacts',
    key: ['id', 'kind'],
    columns: {
      ...{ id: text, kind: text, grant_number: number, account_id: text, upstream_session_id: text },
      ...{ client_id: text, uid: text, payload: bytes, revision: number, failures: number },
      ...{ consumed_at: number, used_from: text, expires_at: number, successors_at_ms: number },
    },
    batch,
  },
  // Before the log, which is verified from its start.
  { name: 'audit_ends', key: ['name'], columns: { name: text, seq: number, hash: text, mac: text }, batch },
  {
    name: 'audit',
    key: ['seq'],
    columns: { seq: number, at: number, event: text, details: text, previous: text, hash: text },
    batch,
  },
  {
    name: 'notes',
    key: ['id'],
    columns: { id: text, subject: text, text: 'freeText', created_at: number },
    batch: smallBatch,
  },
  {
    name: 'mcp_sessions',
    key: ['id'],
    columns: {
      ...{ id: number, key: text, principal: text, initialize: text, protocol_version: text },
      ...{ is_initialized: boolean, log_level: text, subscriptions: text, created_at: number },
      ...{ used_at: number, grant_hash: text },
    },
    numbered: 'id',
    batch: smallBatch,
  },
  { name: 'mcp_session_counts', key: ['principal'], columns: { principal: text, sessions: number }, batch },
  { name: 'mcp_session_total', key: ['id'], columns: { id: number, sessions: number }, batch },
  {
    name: 'mcp_streams',
    key: ['id'],
    columns: { id: number, session_id: number, name: text, owed: text, lasts: boolean, created_at: number },
    numbered: 'id',
    batch,
  },
  {
    name: 'mcp_events',
    key: ['id'],
    columns: {
      ...{ id: number, stream_id: number, session_id: number, position: number, answers: text },
      ...{ created_at: number, data: text },
    },
    numbered: 'id',
    batch: smallBatch,
  },
  {
    name: 'mcp_event_totals',
    key: ['session_id'],
    columns: { session_id: number, events: number, bytes: number },
    batch,
  },
  {
    name: 'backend_credentials',
    key: ['account_id', 'route', 'name'],
    columns: { account_id: text, route: text, name: text, value: bytes, entered_at: number },
    batch,
  },
  {
    name: 'backend_credential_changes',
    key: ['id'],
    columns: { id: number, account_id: text, route: text, at: number },
    numbered: 'id',
    batch,
  },
  {
    name: 'backend_objects',
    key: ['key'],
    columns: {
      ...{ key: text, route: text, principal: text, client_id: text, grant_number: number },
      ...{ created_at: number, expires_at: number },
    },
    batch,
  },
  {
    name: 'definition_pins',
    key: ['route', 'kind', 'name'],
    columns: {
      ...{ route: text, kind: text, name: text, hash: text, definition: text, pinned_at: number },
      ...{ changed_hash: text, changed_definition: text, changed_at: number },
    },
    batch: smallBatch,
  },
];

/**
 * Statements that remove everything that was issued: consents with their tokens, codes, browser logins, open pages, MCP
 * sessions, invitations to register, logins at upstreams. Accounts, clients and notes stay.
 *
 * In a database that lacks acknowledged commits, such as one from a backup, a used code or refresh token, a used
 * invitation, a withdrawn consent and an ended login would be valid again (T-173). Upstream tokens are deleted without
 * revocation: a restore elsewhere must not end tokens in use.
 */
export const removeIssued: readonly string[] = [
  'DELETE FROM artifacts',
  'DELETE FROM grants',
  'DELETE FROM mcp_sessions',
  'DELETE FROM backend_objects',
  'DELETE FROM invitations',
  `UPDATE upstream_links SET tokens = NULL, generation = generation + 1, expires_at = NULL, unreachable_since = NULL,
     leased_until = NULL`,
  'DELETE FROM upstream_sessions',
  'DELETE FROM upstream_links WHERE NOT is_kept',
  'DELETE FROM upstream_unheld',
  'DELETE FROM upstream_revocations',
];
