import type { AccountStore } from './accounts.ts';
import type { ArtifactStore } from './artifacts.ts';
import type { AuditStore } from './audit.ts';
import type { BackendCredentialStore } from './backend-credentials.ts';
import type { BackendObjectStore } from './backend-objects.ts';
import type { ClientDocumentStore } from './client-documents.ts';
import type { ClientStore } from './clients.ts';
import type { DefinitionPinStore } from './definition-pins.ts';
import type { IdentityStore } from './identities.ts';
import type { InvitationStore } from './invitations.ts';
import type { McpSessionStore } from './mcp-sessions.ts';
import type { NoteStore } from './notes.ts';
import type { OneTimeCodeStore } from './one-time-codes.ts';
import type { PasskeyStore } from './passkeys.ts';
import type { SealedRows } from './sealed-rows.ts';
import type { UpstreamStore } from './upstreams.ts';

/** Everything an installation keeps. One implementation per database; all pass the same contract tests. */
export interface Storage {
  accounts: AccountStore;
  artifacts: ArtifactStore;
  audit: AuditStore;
  backendCredentials: BackendCredentialStore;
  backendObjects: BackendObjectStore;
  clientDocuments: ClientDocumentStore;
  clients: ClientStore;
  identities: IdentityStore;
  invitations: InvitationStore;
  mcpSessions: McpSessionStore;
  notes: NoteStore;
  oneTimeCodes: OneTimeCodeStore;
  passkeys: PasskeyStore;
  sealedRows: SealedRows;
  definitionPins: DefinitionPinStore;
  upstreams: UpstreamStore;
  /** Resolves where the database answers; rejects with StorageUnavailable. */
  ping(): Promise<void>;
  /** Resolves where a write was made durable; rejects with StorageUnavailable. */
  probeWrite(): Promise<void>;
  /** Removes what has expired, in batches that leave room for others. Gives the number of rows removed. */
  sweepExpired(nowSeconds: number): Promise<number>;
  /**
   * Runs work while no process writes the database, this one included, and resolves once what it did is durable. The
   * lock goes with the process that holds it. For what stands beside the database and must not be changed by two at once.
   */
  exclusively<T>(work: () => T): Promise<T>;
  /** Finishes what was begun and closes. */
  close(): Promise<void>;
}

/** The database cannot take the write now (busy, full, unreadable). Nothing was written; the caller may try again. */
export class StorageUnavailable extends Error {
  override name = 'StorageUnavailable';
}

/** The numbers of the schemas that a database of an earlier version is brought from and to. */
export interface SchemaUpgrade {
  from: number;
  to: number;
}

/** The database cannot be used at all. The message says what to do. */
export class StorageFault extends Error {
  override name = 'StorageFault';
}
