import type Database from 'better-sqlite3';
import { type Account, type AccountStore, normalizeEmail } from '../accounts.ts';
import type { Writer } from './writer.ts';

/** The accounts of a SQLite database. */
export function createAccountStore(db: Database.Database, writer: Writer): AccountStore {
  const columns = 'id, email, password_hash AS passwordHash, created_at AS createdAt';
  const add = db.prepare(
    `INSERT INTO accounts (id, email, password_hash, created_at) VALUES (@id, @email, @passwordHash, @createdAt)
     ON CONFLICT (email) DO NOTHING`,
  );
  const find = db.prepare<[string], Account>(`SELECT ${columns} FROM accounts WHERE id = ?`);
  const findByEmail = db.prepare<[string], Account>(`SELECT ${columns} FROM accounts WHERE email = ?`);
  const list = db.prepare<[], Account>(`SELECT ${columns} FROM accounts ORDER BY email`);
  const setPassword = db.prepare('UPDATE accounts SET password_hash = ? WHERE id = ?');
  const rehash = db.prepare('UPDATE accounts SET password_hash = ? WHERE id = ? AND password_hash = ?');
  const endGrants = db.prepare('DELETE FROM grants WHERE account_id = ?');
  const endSessions = db.prepare('DELETE FROM artifacts WHERE account_id = ?');
  const remove = db.prepare('DELETE FROM accounts WHERE id = ?');

  return {
    add: (account) =>
      writer.write(() => add.run({ ...account, email: normalizeEmail(account.email) }).changes === 1),
    find: async (id) => find.get(id),
    findByEmail: async (email) => findByEmail.get(normalizeEmail(email)),
    list: async () => list.all(),
    setPassword: (id, passwordHash) =>
      writer.write(() => {
        if (setPassword.run(passwordHash, id).changes === 0) return false;
        endGrants.run(id);
        endSessions.run(id);
        return true;
      }),
    rehash: (id, from, to) => writer.write(() => rehash.run(to, id, from).changes === 1),
    remove: (id) => writer.write(() => remove.run(id).changes === 1),
  };
}
