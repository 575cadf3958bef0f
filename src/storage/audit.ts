/** An event for the audit log. */
export interface AuditEntry {
  /** Epoch seconds. */
  at: number;
  /** Name of the event, such as `token.issued`. */
  event: string;
  /** Subject, place and reason by name; never a secret. */
  details: Readonly<Record<string, string>>;
}

/** A stored entry, linked to the one before it by its hash. */
export interface AuditRow {
  /** Position in the log, from 1 without gaps. */
  seq: number;
  at: number;
  event: string;
  /** The details as JSON, exactly as hashed. */
  details: string;
  /** Hash of the previous row; empty for the first one. */
  previous: string;
  hash: string;
}

/** The sealed start or head of the log: a row with a MAC that proves that it was the last one dropped or written. */
export interface AuditEnd {
  seq: number;
  hash: string;
  mac: string;
}

/** A filter for reading the log. */
export interface AuditQuery {
  /** Only rows after this position. */
  after?: number;
  /** Only this event, or all with this prefix if it ends in `.`, such as `login.`. */
  event?: string;
  /** Only rows that name this account. */
  accountId?: string;
  /** The address of that account, in lower case: includes operator actions that name the account by its address. */
  accountEmail?: string;
  /** Only rows that name this client or act on it. */
  clientId?: string;
  /** Only rows at or after this time, epoch seconds. */
  since?: number;
  /** Only rows before this time, epoch seconds. */
  until?: number;
  limit: number;
  /** Sorts the newest first; default is the oldest first. */
  newestFirst?: boolean;
}

/** Retention of the audit log. */
export interface AuditRetention {
  /** Rows before this time are dropped, epoch seconds. */
  before: number;
  maxRows: number;
}

/** The audit log. Rows are appended, and dropped from the front when they are old; none is ever changed. */
export interface AuditStore {
  /**
   * Appends entries in order; resolves once they are durable. An `audit` change of a commit appends within that commit.
   */
  append(entries: readonly AuditEntry[]): Promise<void>;
  read(query: AuditQuery): Promise<AuditRow[]>;
  /** Returns both sealed ends; `start` is undefined if nothing was dropped yet, `head` if nothing was written. */
  ends(): Promise<{ start: AuditEnd | undefined; head: AuditEnd | undefined }>;
  /**
   * Drops the oldest rows, in short batches.
   * @returns the number of rows
   */
  prune(retention: AuditRetention): Promise<number>;
}
