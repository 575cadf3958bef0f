import type Database from 'better-sqlite3';
import { type Account, type AccountStore, normalizeEmail, passwordResetKind } from '../accounts.ts';
import type { KeepRows } from './steady-rows.ts';
import type { Writer } from './writer.ts';

interface Row extends Omit<Account, 'disabledAt'> {
  disabledAt: number | null;
}

function toAccount(row: Row | undefined): Account | undefined {
  if (!row) return undefined;
  const { disabledAt, ...account } = row;
  return disabledAt === null ? account : { ...account, disabledAt };
}

/** The accounts of a SQLite database. */
export function createAccountStore(db: Database.Database, writer: Writer, keepRows: KeepRows): AccountStore {
  const columns =
    'id, email, password_hash AS passwordHash, created_at AS createdAt, disabled_at AS disabledAt';
  const add = db.prepare(
    `INSERT INTO accounts (id, email, password_hash, created_at, disabled_at)
     VALUES (@id, @email, @passwordHash, @createdAt, @disabledAt) ON CONFLICT (email) DO NOTHING`,
  );
  const find = db.prepare<[string], Row>(`SELECT ${columns} FROM accounts WHERE id = ?`);
  const findKept = keepRows('accounts', (id) => find.get(id));
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

  /** Ends all that was begun with the account as it was; what it holds goes with its rows. */
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
    find: async (id) => toAccount(findKept(id)),
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
