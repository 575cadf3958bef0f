import type Database from 'better-sqlite3';
import type { Invitation, InvitationStore } from '../invitations.ts';
import type { Writer } from './writer.ts';

/** The invitations of a SQLite database. */
export function createInvitationStore(db: Database.Database, writer: Writer): InvitationStore {
  const add = db.prepare(
    'INSERT INTO invitations (id, uses_left, created_at, expires_at) VALUES (@id, @usesLeft, @createdAt, @expiresAt)',
  );
  const find = db.prepare<[string], Invitation>(
    `SELECT id, uses_left AS usesLeft, created_at AS createdAt, expires_at AS expiresAt FROM invitations WHERE id = ?`,
  );
  return {
    add: (invitation) => writer.write(() => void add.run(invitation)),
    find: async (id) => find.get(id),
  };
}
