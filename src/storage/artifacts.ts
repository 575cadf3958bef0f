import type { AuditEntry } from './audit.ts';
import type { ClientChange } from './clients.ts';
import type { IdentityChange } from './identities.ts';
import type { UpstreamChange } from './upstreams.ts';

/**
 * What the authorization server hands out and takes back: grants, codes, tokens, sessions, interactions. An id here
 * is the hash of the secret its holder has, a payload is sealed: the storage can neither use nor read them.
 */

/** A stored artifact. */
export interface ArtifactRow {
  id: string;
  payload: Uint8Array;
  /** Counts the writes of this row; a guarded write names the one it read. */
  revision: number;
  /** When it was used up, epoch seconds; absent while it is fresh. */
  consumedAt?: number;
  /** Digests of where it was used up from; absent where that was not noted. */
  usedFrom?: string;
  /**
   * How long the row stays, epoch seconds, and until the next sweep. Of codes, pushed requests and access tokens it is longer than
   * they are good for, which their payload says.
   */
  expiresAt: number;
}

/** A grant of an account, as a list shows it. */
export interface GrantRow {
  id: string;
  clientId: string;
  payload: Uint8Array;
  /** When something was last redeemed or refreshed under it, epoch seconds, to a minute; absent where nothing was. */
  usedAt?: number;
  /** Epoch seconds. The row may outlive it until the next sweep. */
  expiresAt: number;
}

/** The consent record everything issued under it hangs on. */
export interface PutGrant {
  type: 'putGrant';
  id: string;
  /** When it is written, epoch seconds: from then on its client counts as used. */
  at: number;
  accountId: string;
  clientId: string;
  payload: Uint8Array;
  expiresAt: number;
}

/** Writes an artifact, new or again. */
export interface PutArtifact {
  type: 'put';
  kind: string;
  id: string;
  payload: Uint8Array;
  expiresAt: number;
  /** Dies with this grant; refused where the grant is gone. */
  grantId?: string;
  /** Dies with this account; refused where the account is gone. */
  accountId?: string;
  /** Dies with this login at an upstream; refused where that has ended. */
  upstreamSessionId?: string;
  clientId?: string;
  uid?: string;
  /** Refused unless the row is there with just this revision. */
  ifRevision?: number;
  /** Refused where there is such a row, expired or not: of many who write it at once one does (single use; T-049). */
  ifAbsent?: boolean;
  /** Refused where the row is gone: what was ended meanwhile is not written back to life. */
  ifPresent?: boolean;
}

/**
 * How long a used artifact is remembered at least, in seconds, so that a late replay is noticed. Nearly all codes are used:
 * theirs are written with that time behind the minute they live, as it costs a second write later.
 */
export const keptAfterUseSeconds = 86_400;

/**
 * How long an access token is remembered after its end, in seconds: a stream that waits for a renewed token learns of a
 * revocation by the row.
 */
export const accessTokenKeptSeconds = 600;

/** One step of a commit. */
export type Change =
  | ClientChange
  | IdentityChange
  | UpstreamChange
  | PutGrant
  | PutArtifact
  /**
   * Uses up an artifact: refused where it is gone or used up already (compare-and-set; F1, T-036, T-043). It is kept
   * for a day at least, so that a replay is noticed after it would have expired (T-032).
   */
  /** `at` in epoch seconds; `usedFrom` are digests of the address and the program that used the artifact. */
  | { type: 'consume'; kind: string; id: string; at: number; usedFrom?: string }
  /** Removes an artifact; with `mustExist` refused where it is gone (single use by removal). */
  | { type: 'remove'; kind: string; id: string; mustExist: boolean }
  /** Adds to the audit log what the commit is about. */
  | { type: 'audit'; entry: AuditEntry }
  /** Removes a grant and with it whatever hangs on it. */
  | { type: 'removeGrant'; id: string }
  /** Changes nothing; refused where the account is gone or shut, or its password is no longer this one (T-166). */
  | { type: 'requirePassword'; accountId: string; passwordHash: string };

/** Why a commit changed nothing. */
export type Conflict =
  | { reason: 'consumed' | 'missing' | 'changed' | 'present'; kind: string; id: string }
  /** What a new row hangs on is gone: a grant, an account, a login at an upstream. */
  | { reason: 'orphan'; kind: string };

/** What became of a commit. */
export type CommitResult = { committed: true } | { committed: false; conflict: Conflict };

/** Reads and atomic writes of artifacts. Every write resolves once it is durable, not before. */
export interface ArtifactStore {
  /**
   * Gives an artifact by kind and hashed id, expired or not; undefined where it is gone. What another process did to it
   * shows in the next turn of the event loop.
   */
  find(kind: string, id: string): Promise<ArtifactRow | undefined>;
  /** Gives the revision of an artifact, expired or not; undefined where it is gone. For who has read the rest before. */
  findRevision(kind: string, id: string): Promise<number | undefined>;
  /** Gives those of the ids under which there is an artifact of the kind, expired or not. */
  filterPresent(kind: string, ids: readonly string[]): Promise<string[]>;
  /**
   * Gives a mark: as long as it stays the same, no artifact of the kind was removed or changed, by whichever process;
   * what another one did shows in the next turn of the event loop. It may change for other reasons. For who would ask
   * {@link findRevision} or {@link filterPresent} for the same ids again and again.
   */
  removalMark(kind: string): number | Promise<number>;
  /** Gives the artifact of a kind with this uid; undefined where there is none. */
  findByUid(kind: string, uid: string): Promise<ArtifactRow | undefined>;
  /** Gives the artifacts of a kind that die with an account, expired or not. */
  listOf(kind: string, accountId: string): Promise<ArtifactRow[]>;
  /** Gives the grants of an account, expired or not. */
  listGrants(accountId: string): Promise<GrantRow[]>;
  /**
   * Gives the grants of an account to a client under which a code or token can be used at a time (epoch seconds), the
   * newest first (those of a database from before schema 19 in any order), and no more than so many where there is a
   * limit. Where all was used up, revoked or expired, a grant does nothing any more.
   */
  listLiveGrants(accountId: string, clientId: string, at: number, limit?: number): Promise<GrantRow[]>;
  /** Gives a grant; undefined where it was revoked. */
  findGrant(id: string): Promise<ArtifactRow | undefined>;
  /** Carries out all changes in their order, or none of them. */
  commit(changes: readonly Change[]): Promise<CommitResult>;
  /** Ends a grant with all that hangs on it, whatever else is going on; no effect where it is gone. */
  revokeGrant(id: string): Promise<void>;
  /** Counts a failed try on a live artifact and removes it at the limit (T-035). Gives the tries so far, 0 where it is gone. */
  countFailure(kind: string, id: string, limit: number): Promise<number>;
}
