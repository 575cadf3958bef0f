import { join } from 'node:path';
import Database from 'better-sqlite3';
import { copiedTables } from '../../src/storage/copied-tables.ts';
import { dataFiles } from '../../src/storage/sqlite/data-folder/data-folder.ts';
import { openDataFolder } from '../../src/storage/sqlite/index.ts';

/** The highest number that a column can have without a loss in JavaScript. */
const largest = Number.MAX_SAFE_INTEGER;

/** Statements that give each table rows with values of every kind: null, empty, largest, NUL, other scripts, quotes. */
const statements = `
  INSERT INTO accounts VALUES ('ada', 'ada@example.com', 'hash', 1, NULL), ('ädä 🗝', 'z@example.com', '', 2, ${largest});
  INSERT INTO passkeys VALUES ('key', 'ada', 'a "quoted" {key}', x'00ff00', 0, 1, '["usb"]', 1, NULL),
    ('other', 'ada', '', x'', ${largest}, 0, '[]', 1, 2);
  INSERT INTO one_time_codes VALUES ('ada', x'01', 5, 1);
  INSERT INTO recovery_codes VALUES ('ada', 'one'), ('ada', 'two');
  INSERT INTO identities VALUES ('https://issuer', 'subject', 'ada', 3);
  INSERT INTO clients (id, payload, created_at, used_at, origin, status, decided_at, token_hash)
    VALUES ('client', x'0102', 1, NULL, 'registered', 'approved', NULL, NULL),
      ('denied', x'', 1, 2, 'operator', 'denied', 3, 'hash');
  INSERT INTO client_documents VALUES ('https://client/document', x'03', 1, 2);
  INSERT INTO invitations VALUES ('invitation', 3, 1, 2);
  INSERT INTO upstream_links (id, account_id, upstream, issuer, subject, profile, tokens, proved_at, is_kept, linked_at)
    VALUES ('link', 'ada', 'idp', 'https://idp', 's', x'04', x'05', 1, 1, 1),
      ('gone', 'ädä 🗝', 'idp', 'https://idp', 't', x'04', x'06', 1, 0, 1);
  INSERT INTO upstream_sessions VALUES ('upstream session', 'link', NULL, 1), ('gone', 'gone', 'sid', 1);
  INSERT INTO grants VALUES (1, 'grant', 'ada', 'client', x'07', ${largest}, NULL, 'upstream session'),
    (7, 'last', 'ada', 'client', x'08', 9, 10, NULL);
  INSERT INTO artifacts VALUES ('token', 'RefreshToken', 1, 'ada', 'upstream session', 'client', NULL, x'09', 3, 1, 5, ${largest}, 6, '127.0.0.1'),
    ('token', 'Session', NULL, NULL, NULL, NULL, 'uid', x'', 0, 0, NULL, 1, NULL, NULL);
  INSERT INTO notes VALUES ('note', 'ada', 'with ' || char(0) || ' and ' || char(1) || 'b', 1);
  INSERT INTO call_exports VALUES ('url', 'process', 3, 'ledger', 1, 2);
  INSERT INTO mcp_sessions (id, key, principal, initialize, protocol_version, is_initialized, log_level, subscriptions, created_at, used_at, grant_hash, node_id)
    VALUES (3, 'session', '"ada"', 'sealed', '2025-11-25', 1, NULL, '["file:///a"]', 1, 2, NULL, 'node'),
      (4, 'other', '"ada"', 'sealed', '2025-11-25', 0, 'debug', '[]', 1, 2, 'hash', NULL);
  INSERT INTO mcp_streams VALUES (5, 3, 'stream', '["1"]', 0, 1), (6, 4, 'own', '[]', 1, 1);
  INSERT INTO mcp_events VALUES (8, 5, 3, 1, NULL, 1, 'ünïcode'), (9, 5, 3, 2, '1', 1, '');
  INSERT INTO backend_credentials VALUES ('ada', 'route', 'token', x'0a', 1);
  INSERT INTO backend_objects VALUES ('object', 'route', '"ada"', 'client', 1, 1, 2);
  INSERT INTO definition_pins VALUES ('route', 'tool', 'name', 'hash', NULL, 1, 'other', '{"a":1}', 2);
  -- Leaves an upstream_revocation, and numbers that were assigned and are gone.
  DELETE FROM upstream_links WHERE id = 'gone';
  INSERT INTO upstream_revocations (upstream, link_id, account_id, tokens) VALUES ('idp', 'x', 'y', x'00');
  DELETE FROM upstream_revocations WHERE link_id = 'x';
  INSERT INTO backend_credentials VALUES ('ada', 'route', 'later', x'0a', 1);
  DELETE FROM backend_credentials WHERE name = 'later';
  DELETE FROM backend_credential_changes WHERE id = 3;
`;

/** Creates an installation in which every table has rows. */
export async function fillInstallation(folder: string): Promise<void> {
  const { storage } = await openDataFolder(folder);
  await storage.audit.append([
    { at: 1, event: 'login.succeeded', details: { account: 'ada', text: 'a "quoted" ü' } },
    { at: 2, event: 'token.issued', details: {} },
  ]);
  await storage.audit.prune({ before: 2, maxRows: 10 });
  await storage.close();
  withDatabase(folder, (db) => db.exec(statements));
}

/** Works on the database of a folder that nobody has open. */
export function withDatabase<T>(folder: string, work: (db: Database.Database) => T): T {
  const db = new Database(join(folder, dataFiles.database));
  try {
    db.pragma('foreign_keys = ON');
    return work(db);
  } finally {
    db.close();
  }
}

/** Returns all rows of an installation in a folder. */
export function readInstallation(folder: string): Record<string, unknown[]> {
  return withDatabase(folder, (db) =>
    Object.fromEntries(
      copiedTables.map(({ name, columns, key }) => [
        name,
        db.prepare(`SELECT ${Object.keys(columns).join(', ')} FROM ${name} ORDER BY ${key.join(', ')}`).all(),
      ]),
    ),
  );
}
