/** Something that happened. */
export interface AuditEntry {
  /** Epoch seconds. */
  at: number;
  /** What happened, such as `token.issued`. */
  event: string;
  /** Who, where and why, by name; never a secret. */
  details: Readonly<Record<string, string>>;
}

/** An entry as it is kept: in a chain. */
export interface AuditRow {
  /** Place in the log, from 1 without a gap. */
  seq: number;
  at: number;
  event: string;
  /** The details as JSON, just as they were hashed. */
  details: string;
  /** Hash of the row before; empty for the very first. */
  previous: string;
  hash: string;
}

/** One end of the log: a row that was the last one when this was written, and the proof that it was. */
export interface AuditEnd {
  seq: number;
  hash: string;
  mac: string;
}

/** Which rows are asked for. */
export interface AuditQuery {
  /** Only rows behind this place. */
  after?: number;
  /** Only this event, or with `login.` all that begin so. */
  event?: string;
  /** Only what names this account. */
  accountId?: string;
  /** The address of that account, in lower case: what was done to it by its address is given as well. */
  accountEmail?: string;
  /** Only what names this client, or was done to it. */
  clientId?: string;
  /** Only rows of this time or later, epoch seconds. */
  since?: number;
  /** Only rows of before this time, epoch seconds. */
  until?: number;
  limit: number;
  /** Whether the newest come first; otherwise the oldest. */
  newestFirst?: boolean;
}

/** How much of the log is kept. */
export interface AuditRetention {
  /** Rows of before this time go, epoch seconds. */
  before: number;
  maxRows: number;
}

/** The audit log. Rows are added and, when they are old, dropped from the front; none is ever changed. */
export interface AuditStore {
  /** Adds entries in their order; durable when it resolves. An `audit` change of a commit does the same within it. */
  append(entries: readonly AuditEntry[]): Promise<void>;
  read(query: AuditQuery): Promise<AuditRow[]>;
  /** Gives the ends; undefined where nothing was dropped yet, or nothing written. */
  ends(): Promise<{ start: AuditEnd | undefined; head: AuditEnd | undefined }>;
  /** Drops the oldest rows, in batches that leave room for others. Gives their number. */
  prune(retention: AuditRetention): Promise<number>;
}
