import type { AccountStore, IdentityStore, OneTimeCodeStore, PasskeyStore } from './accounts.ts';
import type { ArtifactStore } from './artifacts.ts';
import type { AuditStore } from './audit.ts';
import type { BackendCredentialStore, BackendObjectStore, DefinitionPinStore } from './backends.ts';
import type { CallStore, ExportStore } from './calls.ts';
import type { ClientDocumentStore, ClientStore, InvitationStore } from './clients.ts';
import type { CounterStore } from './counters.ts';
import type { McpSessionStores } from './mcp-sessions.ts';
import type { NodeMessageStore, NodeStore } from './nodes.ts';
import type { UpstreamStore } from './upstreams.ts';

/** The state of an installation. There is one implementation per database; all pass the same contract tests. */
export interface Storage {
  accounts: AccountStore;
  artifacts: ArtifactStore;
  audit: AuditStore;
  backendCredentials: BackendCredentialStore;
  backendObjects: BackendObjectStore;
  /** The call ledger. It may fail by itself: nothing else depends on it. */
  calls: CallStore;
  clientDocuments: ClientDocumentStore;
  clients: ClientStore;
  /**
   * Counts of all nodes for rate limits. Undefined if the database is used from one machine: counting in memory then
   * costs no write.
   */
  counters?: CounterStore;
  exports: ExportStore;
  identities: IdentityStore;
  invitations: InvitationStore;
  mcpSessions: McpSessionStores;
  nodes: NodeStore;
  nodeMessages: NodeMessageStore;
  notes: NoteStore;
  oneTimeCodes: OneTimeCodeStore;
  passkeys: PasskeyStore;
  sealedRows: SealedRows;
  definitionPins: DefinitionPinStore;
  upstreams: UpstreamStore;
  /**
   * Resolves unless a restart of the process could help: if the database on this machine cannot be read, it rejects with
   * StorageUnavailable. A database server is not asked.
   */
  ping(): Promise<void>;
  /** Resolves if a write was made durable; rejects with StorageUnavailable. */
  probeWrite(): Promise<void>;
  /**
   * Removes expired rows in short batches.
   * @returns the number of rows removed
   */
  sweepExpired(nowSeconds: number): Promise<number>;
  /**
   * Notes that this process serves the installation. Undefined if the beats of `nodes` do.
   * @param hasPeers true if it and other processes forward requests to each other
   * @returns takes the note back, if it does not serve after all; the end of the storage or the process does as well
   * @throws StorageFault if another process serves the installation, and not both forward requests
   */
  beginServing?(hasPeers: boolean): () => void;
  /** Finishes pending writes and closes. */
  close(): Promise<void>;
}

/**
 * The database cannot take the write now (busy, full, unreadable). Nothing was written, and the caller may retry; only if
 * the connection to a server was lost in a commit, as the message says then, that is not known.
 */
export class StorageUnavailable extends Error {
  override name = 'StorageUnavailable';
}

/** The schema versions before and after an upgrade. */
export interface SchemaUpgrade {
  from: number;
  to: number;
  /** Oldest schema whose programs can use the database afterwards; undefined if it is `to`. */
  minReader?: number;
}

/** The database cannot be used at all. The message says what to do. */
export class StorageFault extends Error {
  override name = 'StorageFault';
}

/** The server of the database cannot be reached, or takes no connection; it may later. */
export class StorageUnreachable extends StorageFault {
  override name = 'StorageUnreachable';
}

/** The installation was moved to another database, and is used there. */
export class InstallationMoved extends StorageFault {
  override name = 'InstallationMoved';

  /** @param movedTo describes the place, without secrets */
  constructor(movedTo: string) {
    super(
      `This installation has moved to ${movedTo}. Start servers and commands with the settings of that place; nothing was changed here.`,
    );
  }
}

/** Another server serves the installation, and not both have a port for each other. */
export class AnotherServer extends StorageFault {
  override name = 'AnotherServer';
  /** Changes each time that the other server renews its lease. */
  readonly lease: string;

  constructor(address: string, lease: string) {
    super(
      `Another server runs on this database (${address}). Stop it first, or set cluster.port for both: then each request reaches the server that has its session.`,
    );
    this.lease = lease;
  }
}

/** A note of the built-in notes server. */
export interface Note {
  /** Opaque id, unique across all subjects. */
  id: string;
  text: string;
  /** Epoch seconds. */
  createdAt: number;
}

/**
 * Notes, each owned by one subject: an account, or a client that acts for itself. They are removed with their owner.
 * Every operation names the subject; the id of another subject's note is treated as unknown.
 */
export interface NoteStore {
  /** Stores a new note and returns it once it is durable; rejects if the subject is gone. */
  add(subject: string, text: string, nowSeconds: number): Promise<Note>;
  /** Returns a note; undefined if this subject has none with this id. */
  get(subject: string, noteId: string): Promise<Note | undefined>;
  /** Returns the subject's notes, newest first, at most `limit`. */
  list(subject: string, limit: number): Promise<Note[]>;
  /** Returns the notes that contain `text`, ignoring ASCII case, newest first, at most `limit`. */
  search(subject: string, text: string, limit: number): Promise<Note[]>;
  /**
   * Removes a note.
   * @returns false if this subject has none with this id
   */
  remove(subject: string, noteId: string): Promise<boolean>;
}

/** All sealed values of an installation, in any table: for the rotation of sealing keys. */
export interface SealedRows {
  /** Returns the number of values sealed under each key, by key id. Reads every row. */
  countByKey(): Promise<Map<string, number>>;
  /**
   * Seals values again that are sealed under a retiring key, in short batches. Concurrent writes and removals win.
   * @param keyId id of the retiring key
   * @param reseal returns the value sealed with the present key for its context; undefined if it cannot be opened, and
   * the value stays
   */
  reseal(
    keyId: string,
    reseal: (sealed: Uint8Array, context: string) => Uint8Array | undefined,
  ): Promise<void>;
}
