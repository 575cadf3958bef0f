import { randomUUID } from 'node:crypto';
import type { KeySet } from '../../crypto/key-schedule.ts';
import {
  type Note,
  type NoteStore,
  type SchemaUpgrade,
  type Storage,
  StorageUnavailable,
} from '../storage.ts';
import { watchChangeMarks } from './connection/change-marks.ts';
import { type ConnectionOptions, type Database, openPool } from './connection/database.ts';
import { toOpeningFault } from './connection/errors.ts';
import { migrate } from './connection/migrate.ts';
import { createRowCache } from './connection/row-cache.ts';
import { createWriter, type Writer } from './connection/writer.ts';
import { checkInstallation } from './installation.ts';
import { createAccountStore, createIdentityStore } from './stores/accounts.ts';
import { createArtifactStore } from './stores/artifacts.ts';
import { createAuditStore } from './stores/audit.ts';
import {
  createBackendCredentialStore,
  createBackendObjectStore,
  createDefinitionPinStore,
} from './stores/backends.ts';
import { createClientDocumentStore, createClientStore, createInvitationStore } from './stores/clients.ts';
import { createOneTimeCodeStore, createPasskeyStore } from './stores/login-factors.ts';
import { createMcpSessionStore } from './stores/mcp-sessions.ts';
import { createSealedRows } from './stores/sealed-rows.ts';
import { createUpstreamStore } from './stores/upstreams.ts';
import { createSweeper } from './sweep.ts';

/**
 * Opens a PostgreSQL database (15 or later) as the storage of an installation; several nodes may have it open. Tables
 * are created in the first schema of the user's `search_path`.
 * @param keys checked against the database; without keys the audit log is authenticated by no secret
 * @param beforeUpgrade called before a database of an earlier version is upgraded
 * @throws StorageFault, KeyFileFault with a sentence that says what to do
 */
export async function openPostgresStorage(
  options: ConnectionOptions,
  keys?: KeySet,
  beforeUpgrade?: (upgrade: SchemaUpgrade) => void,
): Promise<Storage> {
  const db = openPool(options);
  try {
    await migrate(options, beforeUpgrade);
    const marks = await watchChangeMarks(db);
    const writer = createWriter(options, marks);
    const close = async (): Promise<void> => {
      await writer.close();
      marks.close();
      await db.close();
    };
    try {
      if (keys) await checkInstallation(db, writer, keys);
    } catch (error) {
      await close();
      throw error;
    }
    const audit = createAuditStore(db, writer, keys ?? { audit: '' });
    const cacheRows = createRowCache(marks);
    return {
      accounts: createAccountStore(db, writer, cacheRows),
      artifacts: createArtifactStore(db, writer, { appendAudit: audit.appendWithin, cacheRows, marks }),
      audit,
      backendCredentials: createBackendCredentialStore(db, writer),
      backendObjects: createBackendObjectStore(db, writer, marks),
      clientDocuments: createClientDocumentStore(db, writer),
      clients: createClientStore(db, writer, cacheRows),
      identities: createIdentityStore(db, writer),
      invitations: createInvitationStore(db, writer),
      mcpSessions: createMcpSessionStore(db, writer, marks),
      notes: createNoteStore(db, writer),
      oneTimeCodes: createOneTimeCodeStore(db, writer),
      passkeys: createPasskeyStore(db, writer),
      sealedRows: createSealedRows(db, writer),
      definitionPins: createDefinitionPinStore(db, writer),
      upstreams: createUpstreamStore(db, writer, marks),
      async ping() {
        try {
          await db.row('SELECT 1');
        } catch (cause) {
          throw new StorageUnavailable('the database cannot be read', { cause });
        }
      },
      probeWrite: () =>
        writer.write(async (tx) => tx.send('UPDATE installation SET probes = probes + 1'), {
          inOneFlight: true,
        }),
      sweepExpired: createSweeper(writer),
      exclusively: (work) => writer.write(async () => work()),
      close,
    };
  } catch (error) {
    await db.close();
    throw toOpeningFault(error);
  }
}

/** Creates the note store of a PostgreSQL database. */
function createNoteStore(db: Database, writer: Writer): NoteStore {
  const columns = 'id, text, created_at AS "createdAt"';
  const newestFirst = 'ORDER BY created_at DESC, id LIMIT';
  return {
    add: (subject, text, nowSeconds) =>
      writer.write(async (tx) => {
        const note: Note = { id: randomUUID(), text, createdAt: nowSeconds };
        await tx.run('INSERT INTO notes (id, subject, text, created_at) VALUES ($1, $2, $3, $4)', [
          ...[note.id, subject, text, nowSeconds],
        ]);
        return note;
      }),
    get: (subject, noteId) =>
      db.row<Note>(`SELECT ${columns} FROM notes WHERE subject = $1 AND id = $2`, [subject, noteId]),
    list: (subject, limit) =>
      db.rows<Note>(`SELECT ${columns} FROM notes WHERE subject = $1 ${newestFirst} $2`, [subject, limit]),
    // In the "C" collation lower-case letters are those of ASCII.
    search: (subject, text, limit) =>
      db.rows<Note>(
        `SELECT ${columns} FROM notes
         WHERE subject = $1 AND strpos(lower(text COLLATE "C"), lower($2 COLLATE "C")) > 0 ${newestFirst} $3`,
        [subject, text, limit],
      ),
    remove: async (subject, noteId) =>
      writer.write(
        async (tx) => (await tx.run('DELETE FROM notes WHERE subject = $1 AND id = $2', [subject, noteId])) === 1,
      ),
  };
}
