import type Database from 'better-sqlite3';
import type { KeySet } from '../../crypto/keys.ts';
import { type SchemaUpgrade, type Storage, StorageUnavailable } from '../storage.ts';
import { createAccountStore } from './accounts.ts';
import { createArtifactStore } from './artifacts.ts';
import { createAuditStore } from './audit.ts';
import { createBackendCredentialStore } from './backend-credentials.ts';
import { createBackendObjectStore } from './backend-objects.ts';
import { createClientDocumentStore } from './client-documents.ts';
import { createClientStore } from './clients.ts';
import { createDefinitionPinStore } from './definition-pins.ts';
import { createIdentityStore } from './identities.ts';
import { checkInstallation } from './installation.ts';
import { createInvitationStore } from './invitations.ts';
import { createMcpSessionStore } from './mcp-sessions.ts';
import { createNoteStore } from './notes.ts';
import { createOneTimeCodeStore } from './one-time-codes.ts';
import { openDatabase } from './open.ts';
import { watchOthersCommits } from './others-commits.ts';
import { createPasskeyStore } from './passkeys.ts';
import { createSealedRows } from './sealed-rows.ts';
import { createSteadyRows } from './steady-rows.ts';
import { createStillThere } from './still-there.ts';
import { createSweeper } from './sweep.ts';
import { createUpstreamStore } from './upstreams.ts';
import { createWriter } from './writer.ts';

/**
 * Opens a SQLite database as the storage of an installation: WAL, `synchronous=FULL`, one writing connection.
 * @param file path of the database file; created where it is missing
 * @param keys the keys it is to be used with; they are checked against it where they are given, and without them its
 *   audit log is bound by no secret
 * @param beforeUpgrade is told that a database of an earlier version is about to be brought up
 * @param refuseWrites throws a StorageFault at each write, where none may be made once it is open
 * @throws StorageFault, KeyFileFault: a sentence each that says what to do
 */
export function openSqliteStorage(
  file: string,
  keys?: KeySet,
  beforeUpgrade?: (upgrade: SchemaUpgrade) => void,
  refuseWrites?: () => never,
): Storage {
  const check = (opened: Database.Database): void => {
    if (keys) checkInstallation(opened, keys);
  };
  const db = openDatabase(file, check, beforeUpgrade);
  const checkStillThere = createStillThere(file);
  const writer = createWriter(db, refuseWrites ?? checkStillThere);
  const countProbe = db.prepare('UPDATE installation SET probes = probes + 1');
  const audit = createAuditStore(db, writer, keys ?? { audit: '' });
  const othersCommits = watchOthersCommits(db);
  const keepRows = createSteadyRows(db, othersCommits);
  const probe = db.prepare('SELECT 1 FROM accounts LIMIT 1');
  return {
    accounts: createAccountStore(db, writer, keepRows),
    artifacts: createArtifactStore(db, writer, { appendAudit: audit.appendWithin, keepRows, othersCommits }),
    audit,
    backendCredentials: createBackendCredentialStore(db, writer),
    backendObjects: createBackendObjectStore(db, writer, othersCommits),
    clientDocuments: createClientDocumentStore(db, writer),
    clients: createClientStore(db, writer, keepRows),
    identities: createIdentityStore(db, writer),
    invitations: createInvitationStore(db, writer),
    mcpSessions: createMcpSessionStore(db, writer),
    notes: createNoteStore(db, writer),
    oneTimeCodes: createOneTimeCodeStore(db, writer),
    passkeys: createPasskeyStore(db, writer),
    sealedRows: createSealedRows(db, writer),
    definitionPins: createDefinitionPinStore(db, writer),
    upstreams: createUpstreamStore(db, writer, othersCommits),
    async ping() {
      try {
        checkStillThere();
        probe.get();
      } catch (cause) {
        throw new StorageUnavailable('the database cannot be read', { cause });
      }
    },
    probeWrite: () => writer.write(() => void countProbe.run()),
    sweepExpired: createSweeper(db, writer),
    exclusively: (work) => writer.write(work),
    async close() {
      await writer.idle();
      db.close();
    },
  };
}
