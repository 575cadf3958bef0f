import type Database from 'better-sqlite3';
import {
  type Account,
  type AccountStore,
  type IdentityChange,
  type IdentityStore,
  type KnownIdentity,
  LastLoginMethod,
  normalizeEmail,
  passwordResetKind,
} from '../../accounts.ts';
import type { Conflict } from '../../artifacts.ts';
import type { CacheRows } from '../connection/row-cache.ts';
import type { Writer } from '../connection/writer.ts';

interface Row extends Omit<Account, 'disabledAt'> {
  disabledAt: number | null;
}

function toAccount(row: Row | undefined): Account | undefined {
  if (!row) return undefined;
  const { disabledAt, ...account } = row;
  return disabledAt === null ? account : { ...account, disabledAt };
}

/** Creates the account store of a SQLite database. */
export function createAccountStore(
  db: Database.Database,
  writer: Writer,
  cacheRows: CacheRows,
): AccountStore {
  const columns =
    'id, email, password_hash AS passwordHash, created_at AS createdAt, disabled_at AS disabledAt';
  const add = db.prepare(
    `INSERT INTO accounts (id, email, password_hash, created_at, disabled_at)
     VALUES (@id, @email, @passwordHash, @createdAt, @disabledAt) ON CONFLICT (email) DO NOTHING`,
  );
  const find = db.prepare<[string], Row>(`SELECT ${columns} FROM accounts WHERE id = ?`);
  const findCached = cacheRows('accounts', (id) => find.get(id));
  const findByEmail = db.prepare<[string], Row>(`SELECT ${columns} FROM accounts WHERE email = ?`);
  const list = db.prepare<[], Row>(`SELECT ${columns} FROM accounts ORDER BY email`);
  const setPassword = db.prepare(
    `UPDATE accounts SET password_hash = @passwordHash
     WHERE id = @id AND password_hash = coalesce(@from, password_hash)`,
  );
  const useReset = db
    .prepare<[string, string, number], string>(
      'DELETE FROM artifacts WHERE kind = ? AND id = ? AND expires_at > ? RETURNING account_id',
    )
    .pluck();
  const setDisabled = db.prepare('UPDATE accounts SET disabled_at = ? WHERE id = ?');
  const rehash = db.prepare('UPDATE accounts SET password_hash = ? WHERE id = ? AND password_hash = ?');
  const endGrants = db.prepare('DELETE FROM grants WHERE account_id = ?');
  const endSessions = db.prepare('DELETE FROM artifacts WHERE account_id = ?');
  const remove = db.prepare('DELETE FROM accounts WHERE id = ?');

  /** Removes the sessions and grants of an account. */
  function endAll(id: string): void {
    endGrants.run(id);
    endSessions.run(id);
  }

  function changePassword(id: string, passwordHash: string, from: string | null): boolean {
    if (setPassword.run({ id, passwordHash, from }).changes === 0) return false;
    endAll(id);
    return true;
  }

  return {
    add: (account) =>
      writer.write(
        () => add.run({ disabledAt: null, ...account, email: normalizeEmail(account.email) }).changes === 1,
      ),
    find: async (id) => toAccount(findCached(id)),
    findByEmail: async (email) => toAccount(findByEmail.get(normalizeEmail(email))),
    list: async () => list.all().flatMap((row) => toAccount(row) ?? []),
    setPassword: (id, passwordHash, from) =>
      writer.write(() => changePassword(id, passwordHash, from ?? null)),
    resetPassword: (resetId, passwordHash, at) =>
      writer.write(() => {
        const id = useReset.get(passwordResetKind, resetId, at);
        return id && changePassword(id, passwordHash, null) ? id : undefined;
      }),
    setDisabled: (id, since) =>
      writer.write(() => {
        if (setDisabled.run(since ?? null, id).changes === 0) return false;
        if (since !== undefined) endAll(id);
        return true;
      }),
    rehash: (id, from, to) => writer.write(() => rehash.run(to, id, from).changes === 1),
    remove: (id) => writer.write(() => remove.run(id).changes === 1),
  };
}

/** Creates the identity store of a SQLite database. */
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
  const waysIn = createLoginMethodGuard(db);
  return {
    findAccount: async ({ issuer, subject }) => findAccount.get(issuer, subject),
    findSubject: async (issuer, accountId) => findSubject.get(issuer, accountId),
    listOf: async (accountId) => listOf.all(accountId),
    forget: (issuer, accountId, issuers) =>
      writer.write(() => waysIn(accountId, issuers, () => forget.run(issuer, accountId).changes === 1)),
  };
}

/**
 * Creates the function that applies changes of identities within a transaction.
 * @returns applies a change; returns the conflict if it is rejected
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

/**
 * Creates the guard that keeps the last login method of an account without a password, for removals within a
 * transaction.
 * @returns runs a removal; throws LastLoginMethod, which undoes it, if the account had a passkey or an identity at one
 * of the issuers and has none afterwards. Without issuers it checks nothing.
 */
export function createLoginMethodGuard(
  db: Database.Database,
): <T>(accountId: string, issuers: readonly string[] | undefined, removal: () => T) => T {
  const find = db
    .prepare<{ accountId: string; issuers: string }, number>(
      `SELECT EXISTS (SELECT 1 FROM passkeys WHERE account_id = @accountId)
         OR EXISTS (SELECT 1 FROM identities WHERE account_id = @accountId
           AND issuer IN (SELECT value FROM json_each(@issuers)))`,
    )
    .pluck();
  return (accountId, issuers, removal) => {
    if (issuers === undefined) return removal();
    const ways = { accountId, issuers: JSON.stringify(issuers) };
    const wasOpen = find.get(ways) === 1;
    const removed = removal();
    if (wasOpen && find.get(ways) !== 1) throw new LastLoginMethod();
    return removed;
  };
}
