import type { IdentityChange } from './accounts.ts';
import type { AuditEntry } from './audit.ts';
import type { ClientChange } from './clients.ts';
import type { UpstreamBond, UpstreamChange } from './upstreams.ts';

/**
 * Everything the authorization server issues and verifies: grants, codes, tokens, sessions, interactions. An id is the
 * hash of the holder's secret and a payload is sealed, so the storage can neither use nor read them.
 */

/** A stored artifact. */
export interface ArtifactRow {
  id: string;
  payload: Uint8Array;
  /** Number of writes to this row; a conditional write names the revision that it read. */
  revision: number;
  /** Time of consumption, epoch seconds; absent if unused. */
  consumedAt?: number;
  /** Digests of the origin of its use; absent if not recorded. */
  usedFrom?: string;
  /**
   * Time until which the row is stored at least, epoch seconds. Codes, pushed requests and access tokens expire earlier,
   * as their payload says.
   */
  expiresAt: number;
}

/** A stored access token. */
export interface AccessTokenRow extends ArtifactRow {
  /** The login at an upstream that its grant depends on; absent if there is none. */
  bond?: UpstreamBond;
}

/** A grant of an account, as listed. */
export interface GrantRow {
  id: string;
  clientId: string;
  payload: Uint8Array;
  /** Time of the last redemption or refresh under the grant, epoch seconds, to the minute; absent if there was none. */
  usedAt?: number;
  /** Epoch seconds. The row may outlive it until the next sweep. */
  expiresAt: number;
}

/** Stores a grant: the consent record under which codes and tokens are issued. */
export interface PutGrant {
  type: 'putGrant';
  id: string;
  /** Time of the write, epoch seconds; also recorded as a use of the client. */
  at: number;
  accountId: string;
  clientId: string;
  payload: Uint8Array;
  expiresAt: number;
}

/** Inserts or updates an artifact. */
export interface PutArtifact {
  type: 'put';
  kind: string;
  id: string;
  payload: Uint8Array;
  expiresAt: number;
  /** Removed with this grant; rejected if the grant is gone. */
  grantId?: string;
  /** Removed with this account; rejected if the account is gone. */
  accountId?: string;
  /** Removed with this upstream session; rejected if the session has ended. */
  upstreamSessionId?: string;
  clientId?: string;
  uid?: string;
  /** Rejected unless the row has this revision. */
  ifRevision?: number;
  /**
   * Rejected if there is such a row, expired or not: of several concurrent writers one succeeds (single use; T-049).
   */
  ifAbsent?: boolean;
  /** Rejected if the row is gone: an artifact that was revoked meanwhile is not written again. */
  ifPresent?: boolean;
}

/**
 * Minimum retention of a used artifact, in seconds, so that a late replay is detected. Nearly all codes are used, so
 * codes are written with this time added to their lifetime: extending it later would cost a second write.
 */
export const usedRetentionSeconds = 86_400;

/**
 * Retention of an access token after its expiry, in seconds: a stream that waits for a renewed token detects a
 * revocation by the row.
 */
export const accessTokenRetentionSeconds = 600;

/** One step of a commit. */
export type Change =
  | ClientChange
  | IdentityChange
  | UpstreamChange
  | PutGrant
  | PutArtifact
  /**
   * Consumes an artifact: rejected if it is gone or was consumed (compare-and-set; T-036, T-043). It is stored for
   * at least one more day, so that a replay after its expiry is detected (T-032). `at` is in epoch seconds;
   * `usedFrom` has digests of the origin of this use.
   */
  | { type: 'consume'; kind: string; id: string; at: number; usedFrom?: string }
  /** Removes an artifact; with `mustExist` rejected if it is gone (single use by removal). */
  | { type: 'remove'; kind: string; id: string; mustExist: boolean }
  /** Appends an entry to the audit log. */
  | { type: 'audit'; entry: AuditEntry }
  /** Removes a grant with everything issued under it. */
  | { type: 'removeGrant'; id: string }
  /** Writes nothing; rejected if the account is gone or disabled, or if its password hash differs (T-166). */
  | { type: 'requirePassword'; accountId: string; passwordHash: string };

/** The reason why a commit changed nothing. */
export type Conflict =
  | { reason: 'consumed' | 'missing' | 'changed' | 'present'; kind: string; id: string }
  /** The row refers to a grant, an account or an upstream session that is gone. */
  | { reason: 'orphan'; kind: string };

export type CommitResult = { committed: true } | { committed: false; conflict: Conflict };

/** Reads and atomic writes of artifacts. Every write resolves once it is durable. */
export interface ArtifactStore {
  /**
   * Returns an artifact by kind and hashed id, expired or not; undefined if there is none. Changes of another process
   * are visible from the next turn of the event loop.
   */
  find(kind: string, id: string): Promise<ArtifactRow | undefined>;
  /**
   * Returns an access token by its hashed id, expired or not; undefined if there is none. On PostgreSQL the query also
   * reads its account and its client, and caches both rows for `accounts.find` and `clients.find`.
   */
  findAccessToken(id: string): Promise<AccessTokenRow | undefined>;
  /**
   * Returns the revision of an artifact, expired or not; undefined if there is none. For callers that have read the
   * rest already.
   */
  findRevision(kind: string, id: string): Promise<number | undefined>;
  /** Returns those of the ids for which an artifact of the kind is stored, expired or not. */
  filterPresent(kind: string, ids: readonly string[]): Promise<string[]>;
  /**
   * Returns a counter: while it stays the same, no process has removed or changed an artifact of the kind. Changes of
   * another process are visible from the next turn of the event loop; the counter may also change for other reasons. It
   * saves repeated calls of {@link findRevision} or {@link filterPresent} for the same ids.
   */
  removalMark(kind: string): number | Promise<number>;
  /** Returns the artifact of a kind with this uid. */
  findByUid(kind: string, uid: string): Promise<ArtifactRow | undefined>;
  /** Returns the artifacts of a kind that belong to an account, expired or not. */
  listOf(kind: string, accountId: string): Promise<ArtifactRow[]>;
  /** Returns the grants of an account, expired or not. */
  listGrants(accountId: string): Promise<GrantRow[]>;
  /**
   * Returns the grants of an account to a client that still have a usable code or token, the newest first (in any order
   * for grants stored before schema 19). A grant whose codes and tokens were all used, revoked or expired has no effect
   * any more.
   * @param at epoch seconds
   * @param limit maximum number of grants
   */
  listLiveGrants(accountId: string, clientId: string, at: number, limit?: number): Promise<GrantRow[]>;
  /** Returns a grant; undefined if it was revoked. */
  findGrant(id: string): Promise<ArtifactRow | undefined>;
  /** Applies all changes in order, or none of them. */
  commit(changes: readonly Change[]): Promise<CommitResult>;
  /** Removes a grant with everything issued under it; no effect if it is gone. */
  revokeGrant(id: string): Promise<void>;
  /**
   * Counts a failed attempt on an unused artifact and removes the artifact at the limit (T-035).
   * @returns the number of failures so far; 0 if the artifact is gone
   */
  countFailure(kind: string, id: string, limit: number): Promise<number>;
}
