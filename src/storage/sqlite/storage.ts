import { randomUUID } from 'node:crypto';
import type Database from 'better-sqlite3';
import type { KeySet } from '../../crypto/key-schedule.ts';
import {
  type Note,
  type NoteStore,
  type SchemaUpgrade,
  type Storage,
  StorageUnavailable,
} from '../storage.ts';
import { createServingLock } from './connection/exclusive-lock.ts';
import { openDatabase } from './connection/open.ts';
import { createRowCache, watchDataVersion } from './connection/row-cache.ts';
import { createSameFileAssertion, createWriter, type Writer } from './connection/writer.ts';
import { checkInstallation, requireNotMoved } from './data-folder/installation.ts';
import { createAccountStore, createIdentityStore } from './stores/accounts.ts';
import { createArtifactStore } from './stores/artifacts.ts';
import { createAuditStore } from './stores/audit.ts';
import {
  createBackendCredentialStore,
  createBackendObjectStore,
  createDefinitionPinStore,
} from './stores/backends.ts';
import { createExportStore } from './stores/calls.ts';
import { createCallStoreInThread } from './stores/calls-in-thread.ts';
import { createClientDocumentStore, createClientStore, createInvitationStore } from './stores/clients.ts';
import { createOneTimeCodeStore, createPasskeyStore } from './stores/login-factors.ts';
import { createMcpSessionStore } from './stores/mcp-sessions.ts';
import { createNodeMessageStore, createNodeStore } from './stores/nodes.ts';
import { createSealedRows } from './stores/sealed-rows.ts';
import { createUpstreamStore } from './stores/upstreams.ts';
import { createSweeper } from './sweep.ts';

/** A SQLite database, with a lock for the files beside it. */
export interface SqliteStorage extends Storage {
  /**
   * Runs work while no process, this one included, writes to the database, and resolves once its writes are durable.
   * The lock ends with the process that holds it. It guards files beside the database that two processes must not
   * change at once.
   */
  exclusively<T>(work: () => T): Promise<T>;
}

/**
 * Opens a SQLite database as the storage of an installation: WAL, `synchronous=FULL`, one writing connection.
 * @param file path of the database file; created if it is missing
 * @param keys checked against the database; without keys the audit log is authenticated by no secret
 * @param beforeUpgrade called before a database of an earlier version is upgraded
 * @param refuseWrites throws a StorageFault at each write, for a storage that is read-only once it is open
 * @throws StorageFault, KeyFileFault with a sentence that says what to do
 */
export function openSqliteStorage(
  file: string,
  keys?: KeySet,
  beforeUpgrade?: (upgrade: SchemaUpgrade) => void,
  refuseWrites?: () => never,
): SqliteStorage {
  const check = (opened: Database.Database): void => {
    requireNotMoved(opened);
    if (keys) checkInstallation(opened, keys);
  };
  const db = openDatabase(file, check, beforeUpgrade);
  const assertSameFile = createSameFileAssertion(file);
  const writer = createWriter(db, refuseWrites ?? assertSameFile);
  const countProbe = db.prepare('UPDATE installation SET probes = probes + 1');
  const audit = createAuditStore(db, writer, keys ?? { audit: '' });
  const foreignCommits = watchDataVersion(db);
  const cacheRows = createRowCache(db, foreignCommits);
  const calls = createCallStoreInThread(ledgerBeside(file), keys ?? { audit: '' });
  const servingLock = createServingLock(`${file}.serving`);
  const probe = db.prepare('SELECT 1 FROM accounts LIMIT 1');
  return {
    accounts: createAccountStore(db, writer, cacheRows),
    artifacts: createArtifactStore(db, writer, {
      appendAudit: audit.appendWithin,
      cacheRows,
      foreignCommits,
    }),
    audit,
    backendCredentials: createBackendCredentialStore(db, writer),
    backendObjects: createBackendObjectStore(db, writer, foreignCommits),
    calls,
    clientDocuments: createClientDocumentStore(db, writer),
    clients: createClientStore(db, writer, cacheRows),
    exports: createExportStore(db, writer),
    identities: createIdentityStore(db, writer),
    invitations: createInvitationStore(db, writer),
    mcpSessions: createMcpSessionStore(db, writer),
    nodes: createNodeStore(db, writer),
    nodeMessages: createNodeMessageStore(db, writer),
    notes: createNoteStore(db, writer),
    oneTimeCodes: createOneTimeCodeStore(db, writer),
    passkeys: createPasskeyStore(db, writer),
    sealedRows: createSealedRows(db, writer),
    definitionPins: createDefinitionPinStore(db, writer),
    upstreams: createUpstreamStore(db, writer, foreignCommits),
    async ping() {
      try {
        assertSameFile();
        probe.get();
      } catch (cause) {
        throw new StorageUnavailable('the database cannot be read', { cause });
      }
    },
    probeWrite: () => writer.write(() => void countProbe.run()),
    sweepExpired: createSweeper(db, writer),
    beginServing: servingLock.take,
    exclusively: (work) => writer.write(work),
    async close() {
      try {
        await writer.idle();
        await calls.close();
      } finally {
        db.close();
        servingLock.end();
      }
    },
  };
}

/** Returns the path of the call ledger of a database: `gatehouse.calls.db` for `gatehouse.db`. */
export function ledgerBeside(file: string): string {
  return file.replace(/(\.db)?$/, '.calls.db');
}

/** Creates the note store of a SQLite database. */
function createNoteStore(db: Database.Database, writer: Writer): NoteStore {
  const columns = 'id, text, created_at AS createdAt';
  const newestFirst = 'ORDER BY created_at DESC, id LIMIT ?';
  const add = db.prepare('INSERT INTO notes (id, subject, text, created_at) VALUES (?, ?, ?, ?)');
  const get = db.prepare<[string, string], Note>(`SELECT ${columns} FROM notes WHERE subject = ? AND id = ?`);
  const list = db.prepare<[string, number], Note>(
    `SELECT ${columns} FROM notes WHERE subject = ? ${newestFirst}`,
  );
  const search = db.prepare<[string, string, number], Note>(
    `SELECT ${columns} FROM notes WHERE subject = ? AND instr(lower(text), lower(?)) > 0 ${newestFirst}`,
  );
  const remove = db.prepare('DELETE FROM notes WHERE subject = ? AND id = ?');

  return {
    add: (subject, text, nowSeconds) =>
      writer.write(() => {
        const note = { id: randomUUID(), text, createdAt: nowSeconds };
        add.run(note.id, subject, text, nowSeconds);
        return note;
      }),
    get: async (subject, noteId) => get.get(subject, noteId),
    list: async (subject, limit) => list.all(subject, limit),
    search: async (subject, text, limit) => search.all(subject, text, limit),
    remove: (subject, noteId) => writer.write(() => remove.run(subject, noteId).changes === 1),
  };
}
