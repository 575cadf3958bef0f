import { randomUUID } from 'node:crypto';
import { type KeyRing, openKeyRing } from '../../crypto/key-ring.ts';
import type { KeySet } from '../../crypto/key-schedule.ts';
import type { SealingKey } from '../../crypto/sealed-box.ts';
import type { Note, NoteStore, Storage } from '../storage.ts';
import { type ChangeMarks, watchChangeMarks } from './connection/change-marks.ts';
import {
  type ConnectionOptions,
  counterConnections,
  type Database,
  openPool,
} from './connection/database.ts';
import { toOpeningFault } from './connection/errors.ts';
import { type MigrationOptions, migrate } from './connection/migrate.ts';
import { RowCache } from './connection/row-cache.ts';
import { createWriter, type Writer } from './connection/writer.ts';
import { checkInstallation, isAcceptedServer, requireNotMoved } from './installation.ts';
import { holdsKeys, openKeySchedule } from './key-schedule.ts';
import { createAccountStore, createIdentityStore } from './stores/accounts.ts';
import { createArtifactStore } from './stores/artifacts.ts';
import { createAuditStore } from './stores/audit.ts';
import {
  createBackendCredentialStore,
  createBackendObjectStore,
  createDefinitionPinStore,
} from './stores/backends.ts';
import { createExportStore, openCallStore } from './stores/calls.ts';
import { createClientDocumentStore, createClientStore, createInvitationStore } from './stores/clients.ts';
import { createCounterStore } from './stores/counters.ts';
import { createOneTimeCodeStore, createPasskeyStore } from './stores/login-factors.ts';
import { createMcpSessionStore } from './stores/mcp-sessions.ts';
import { createNodeMessageStore, createNodeStore } from './stores/nodes.ts';
import { createSealedRows } from './stores/sealed-rows.ts';
import { createUpstreamStore } from './stores/upstreams.ts';
import { createSweeper } from './sweep.ts';

/** An opened installation: the state that `createGatehouse` needs. */
export interface PostgresInstallation {
  storage: Storage;
  /** The keys of `keyRing`; they change with it. */
  keys: KeySet;
  keyRing: KeyRing;
}

/** Options of {@link openPostgres}. */
export interface PostgresOptions extends ConnectionOptions, Omit<MigrationOptions, 'folder'> {
  /**
   * Returns the master key, under which the keys of the installation are sealed in the database.
   * @param isNew true if the database has no keys yet
   */
  masterKey: (isNew: boolean) => Promise<SealingKey>;
  /** Returns the time in epoch seconds; default is the system clock. */
  now?: () => number;
  /** Called with a sentence if the server may lack acknowledged commits, as after a failover; also while it is open. */
  onOtherServer?: ((sentence: string) => void) | undefined;
}

/**
 * Opens a PostgreSQL database (15 or later) as the state of an installation, its keys included; several nodes may have
 * it open. Tables are created in the first schema of the user's `search_path`.
 * @throws StorageFault, KeyFileFault with a sentence that says what to do
 */
export async function openPostgres({
  masterKey,
  now = () => Math.floor(Date.now() / 1000),
  onOtherServer,
  ...options
}: PostgresOptions): Promise<PostgresInstallation> {
  const connections = await connect(options, () => onOtherServer?.(otherServer));
  try {
    const isNew = !(await holdsKeys(connections.db));
    const keyRing = openKeyRing(await openKeySchedule(connections, { masterKey, isNew, now }), now);
    const storage = await createStorage(connections, options, keyRing.keys);
    if (!(await isAcceptedServer(connections.db))) onOtherServer?.(otherServer);
    return { storage, keyRing, keys: keyRing.keys };
  } catch (error) {
    await connections.close();
    throw toOpeningFault(error);
  }
}

/**
 * Opens a PostgreSQL database as the storage of an installation whose keys are elsewhere.
 * @param keys checked against the database; without keys the audit log is authenticated by no secret
 * @throws StorageFault, KeyFileFault with a sentence that says what to do
 */
export async function openPostgresStorage(options: ConnectionOptions, keys?: KeySet): Promise<Storage> {
  const connections = await connect(options);
  try {
    return await createStorage(connections, options, keys);
  } catch (error) {
    await connections.close();
    throw toOpeningFault(error);
  }
}

const otherServer =
  'PostgreSQL runs on another server or timeline than before, or lacks commits that it had, as after a failover or a restore. If it may lack acknowledged commits, stop all nodes and run: gatehouse storage recovered --config FILE. If it has all of them, run it with --keep-logins.';

/** The connections of a node. */
interface Connections {
  db: Database;
  /** Connections of the counters. */
  counting: Database;
  writer: Writer;
  marks: ChangeMarks;
  close: () => Promise<void>;
}

async function connect(
  options: ConnectionOptions & MigrationOptions,
  onSetBack?: () => void,
): Promise<Connections> {
  const db = openPool(options);
  try {
    await migrate(options, options);
    await requireNotMoved(db);
    const marks = await watchChangeMarks(db, onSetBack);
    const writer = createWriter(options, marks);
    const counting = openPool({ ...options, poolSize: counterConnections }, 'written');
    const close = async (): Promise<void> => {
      await writer.close();
      marks.close();
      await counting.close();
      await db.close();
    };
    return { db, counting, writer, marks, close };
  } catch (error) {
    await db.close();
    throw toOpeningFault(error);
  }
}

async function createStorage(
  { db, counting, writer, marks, close }: Connections,
  options: ConnectionOptions,
  keys?: KeySet,
): Promise<Storage> {
  if (keys) await checkInstallation(db, writer, keys);
  const audit = createAuditStore(db, writer, keys ?? { audit: '' });
  const rowCache = new RowCache(marks);
  const { removeEnded, ...counters } = createCounterStore(counting);
  const calls = openCallStore(options, keys ?? { audit: '' });
  const sweep = createSweeper(writer);
  return {
    accounts: createAccountStore(db, writer, rowCache),
    artifacts: createArtifactStore(db, writer, { appendAudit: audit.appendWithin, rowCache, marks }),
    audit,
    backendCredentials: createBackendCredentialStore(db, writer),
    backendObjects: createBackendObjectStore(db, writer, marks),
    calls,
    clientDocuments: createClientDocumentStore(db, writer),
    clients: createClientStore(db, writer, rowCache),
    counters,
    exports: createExportStore(db, writer),
    identities: createIdentityStore(db, writer),
    invitations: createInvitationStore(db, writer),
    mcpSessions: createMcpSessionStore(db, writer, marks),
    nodes: createNodeStore(db, writer),
    nodeMessages: createNodeMessageStore(db, writer, marks),
    notes: createNoteStore(db, writer),
    oneTimeCodes: createOneTimeCodeStore(db, writer),
    passkeys: createPasskeyStore(db, writer),
    sealedRows: createSealedRows(db, writer),
    definitionPins: createDefinitionPinStore(db, writer),
    upstreams: createUpstreamStore(db, writer, marks),
    // While the server is away, a restarted node could do no more than this one, and would lose its sessions.
    ping: async () => undefined,
    probeWrite: () =>
      writer.write(async (tx) => tx.send('UPDATE installation SET probes = probes + 1'), {
        inOneFlight: true,
      }),
    sweepExpired: async (nowSeconds) => (await sweep(nowSeconds)) + (await removeEnded()),
    async close() {
      await calls.close();
      await close();
    },
  };
}

/** Creates the note store of a PostgreSQL database. */
function createNoteStore(db: Database, writer: Writer): NoteStore {
  const columns = 'id, text, created_at AS "createdAt"';
  const newestFirst = 'ORDER BY created_at DESC, id LIMIT';
  const toNote = (note: Note): Note => ({ ...note, text: unescapeNul(note.text) });
  return {
    add: (subject, text, nowSeconds) =>
      writer.write(async (tx) => {
        const note: Note = { id: randomUUID(), text, createdAt: nowSeconds };
        await tx.run('INSERT INTO notes (id, subject, text, created_at) VALUES ($1, $2, $3, $4)', [
          ...[note.id, subject, escapeNul(text), nowSeconds],
        ]);
        return note;
      }),
    async get(subject, noteId) {
      const note = await db.row<Note>(`SELECT ${columns} FROM notes WHERE subject = $1 AND id = $2`, [
        ...[subject, noteId],
      ]);
      return note && toNote(note);
    },
    list: async (subject, limit) =>
      (
        await db.rows<Note>(`SELECT ${columns} FROM notes WHERE subject = $1 ${newestFirst} $2`, [
          ...[subject, limit],
        ])
      ).map(toNote),
    // In the "C" collation lower-case letters are those of ASCII.
    search: async (subject, text, limit) =>
      (
        await db.rows<Note>(
          `SELECT ${columns} FROM notes
           WHERE subject = $1 AND strpos(lower(text COLLATE "C"), lower($2 COLLATE "C")) > 0 ${newestFirst} $3`,
          [subject, escapeNul(text), limit],
        )
      ).map(toNote),
    remove: async (subject, noteId) =>
      writer.write(
        async (tx) =>
          (await tx.run('DELETE FROM notes WHERE subject = $1 AND id = $2', [subject, noteId])) === 1,
      ),
  };
}

/** Escapes NUL, which PostgreSQL holds in no text; a part of a text is escaped as it is in the whole. */
export function escapeNul(text: string): string {
  return text.replaceAll('\u0001', '\u0001a').replaceAll('\0', '\u0001b');
}

/** Returns a text that {@link escapeNul} has escaped. */
export function unescapeNul(text: string): string {
  return text.replaceAll('\u0001b', '\0').replaceAll('\u0001a', '\u0001');
}
