import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openDatabase } from '../../../src/storage/sqlite/open.ts';
import { revokeAll } from '../../../src/storage/sqlite/revoke-all.ts';
import { testFolder } from '../../client/support/folder.ts';

it('ends what was issued and leaves accounts, clients, notes, credentials and what is linked for tools (T-173)', () => {
  const db = openDatabase(join(testFolder(), 'gatehouse.db'));
  db.exec(`
    INSERT INTO accounts (id, email, password_hash, created_at) VALUES ('ann', 'ann@example.com', 'x', 1);
    INSERT INTO clients (id, payload, created_at) VALUES ('c', x'00', 1);
    INSERT INTO notes (id, subject, text, created_at) VALUES ('n', 'ann', 'text', 1);
    INSERT INTO grants (id, account_id, client_id, payload, expires_at) VALUES ('g', 'ann', 'c', x'00', 9);
    INSERT INTO artifacts (id, kind, grant_number, payload, expires_at) SELECT 't', 'AccessToken', number, x'00', 9 FROM grants;
    INSERT INTO artifacts (id, kind, payload, expires_at) VALUES ('s', 'Session', x'00', 9);
    INSERT INTO mcp_sessions (key, principal, initialize, protocol_version, is_initialized, subscriptions, created_at, used_at)
      VALUES ('k', 'p', 'x', '2025-11-25', 1, '[]', 1, 1);
    INSERT INTO upstream_links (id, account_id, upstream, issuer, subject, profile, tokens, is_kept, proved_at, linked_at)
      VALUES ('l', 'ann', 'idp', 'https://idp.example', '1', x'00', x'01', 0, 1, 1),
        ('m', 'ann', 'tools', 'https://tools.example', '1', x'00', x'01', 1, 1, 1);
    INSERT INTO upstream_sessions (id, link_id, at) VALUES ('u', 'l', 1), ('v', 'm', 1);
    UPDATE grants SET upstream_session_id = 'u';
    INSERT INTO upstream_revocations (upstream, link_id, account_id, tokens) VALUES ('idp', 'gone', 'gone', x'01');
    INSERT INTO backend_credentials (account_id, route, name, value, entered_at) VALUES ('ann', 'r', 'key', x'01', 1);
    INSERT INTO invitations (id, uses_left, created_at, expires_at) VALUES ('i', 1, 1, 9);
  `);
  revokeAll(db);
  const count = (table: string): unknown => db.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
  const emptied = ['grants', 'artifacts', 'mcp_sessions', 'mcp_session_counts', 'invitations'];
  emptied.push('upstream_sessions', 'upstream_unheld', 'upstream_revocations');
  expect(Object.fromEntries(emptied.map((table) => [table, count(table)]))).toEqual(
    Object.fromEntries(emptied.map((table) => [table, 0])),
  );
  expect(db.prepare('SELECT id, tokens, generation FROM upstream_links').all()).toEqual([
    { id: 'm', tokens: null, generation: 2 },
  ]);
  expect(['accounts', 'clients', 'notes', 'backend_credentials'].map(count)).toEqual([1, 1, 1, 1]);
  db.close();
});
