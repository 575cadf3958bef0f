import type Database from 'better-sqlite3';
import type { Conflict } from '../artifacts.ts';
import type { IdentityChange, IdentityStore, KnownIdentity } from '../identities.ts';
import { createWaysIn } from './ways-in.ts';
import type { Writer } from './writer.ts';

/** The identities of a SQLite database. */
export function createIdentityStore(db: Database.Database, writer: Writer): IdentityStore {
  const findAccount = db
    .prepare<[string, string], string>('SELECT account_id FROM identities WHERE issuer = ? AND subject = ?')
    .pluck();
  const findSubject = db
    .prepare<[string, string], string>('SELECT subject FROM identities WHERE issuer = ? AND account_id = ?')
    .pluck();
  const listOf = db.prepare<[string], KnownIdentity>(
    'SELECT issuer, subject, created_at AS linkedAt FROM identities WHERE account_id = ? ORDER BY created_at, issuer',
  );
  const forget = db.prepare('DELETE FROM identities WHERE issuer = ? AND account_id = ?');
  const waysIn = createWaysIn(db);
  return {
    findAccount: async ({ issuer, subject }) => findAccount.get(issuer, subject),
    findSubject: async (issuer, accountId) => findSubject.get(issuer, accountId),
    listOf: async (accountId) => listOf.all(accountId),
    forget: (issuer, accountId, issuers) =>
      writer.write(() => waysIn(accountId, issuers, () => forget.run(issuer, accountId).changes === 1)),
  };
}

/**
 * Creates the carrying out of changes to identities, inside of a transaction.
 * @returns a function that carries one out and gives the conflict where it is refused
 */
export function createIdentityChanges(
  db: Database.Database,
): (change: IdentityChange) => Conflict | undefined {
  const addAccount = db.prepare(
    `INSERT INTO accounts (id, email, password_hash, created_at)
     VALUES (@id, @email, @passwordHash, @createdAt) ON CONFLICT (email) DO NOTHING`,
  );
  const link = db.prepare(
    `INSERT INTO identities (issuer, subject, account_id, created_at)
     VALUES (@issuer, @subject, @accountId, @at) ON CONFLICT DO NOTHING`,
  );
  const isLinked = db
    .prepare<[string, string, string], number>(
      'SELECT 1 FROM identities WHERE issuer = ? AND subject = ? AND account_id = ?',
    )
    .pluck();

  return (change) => {
    if (change.type === 'addAccount') {
      const { account } = change;
      return addAccount.run(account).changes === 1
        ? undefined
        : { reason: 'present', kind: 'Account', id: account.id };
    }
    const { issuer, subject, accountId } = change;
    if (link.run(change).changes === 1 || isLinked.get(issuer, subject, accountId)) return undefined;
    return { reason: 'present', kind: 'Identity', id: accountId };
  };
}
