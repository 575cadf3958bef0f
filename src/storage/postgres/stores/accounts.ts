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
import type { Database } from '../connection/database.ts';
import type { RowCache } from '../connection/row-cache.ts';
import type { Transaction, Writer } from '../connection/writer.ts';

interface Row extends Omit<Account, 'disabledAt'> {
  disabledAt: number | null;
}

function toAccount(row: Row | undefined): Account | undefined {
  if (!row) return undefined;
  const { disabledAt, ...account } = row;
  return disabledAt === null ? account : { ...account, disabledAt };
}

const columns = `id, email, password_hash AS "passwordHash", created_at AS "createdAt", disabled_at AS "disabledAt"`;

/** Returns the query for the account whose id an expression gives. */
export const selectAccount = (id: string): string => `SELECT ${columns} FROM accounts WHERE id = ${id}`;

const accountSql = {
  add: `INSERT INTO accounts (id, email, password_hash, created_at, disabled_at)
     VALUES ($1, $2, $3, $4, $5) ON CONFLICT (email) DO NOTHING`,
  find: selectAccount('$1'),
  findByEmail: `SELECT ${columns} FROM accounts WHERE email = $1`,
  list: `SELECT ${columns} FROM accounts ORDER BY email`,
  setPassword: `UPDATE accounts SET password_hash = $2 WHERE id = $1 AND password_hash = coalesce($3, password_hash)`,
  useReset: `DELETE FROM artifacts WHERE kind = $1 AND id = $2 AND expires_at > $3 RETURNING account_id AS "accountId"`,
  setDisabled: 'UPDATE accounts SET disabled_at = $2 WHERE id = $1',
  rehash: 'UPDATE accounts SET password_hash = $3 WHERE id = $1 AND password_hash = $2',
  endGrants: 'DELETE FROM grants WHERE account_id = $1',
  endSessions: 'DELETE FROM artifacts WHERE account_id = $1',
  remove: 'DELETE FROM accounts WHERE id = $1',
} as const;

/** Creates the account store of a PostgreSQL database. */
export function createAccountStore(db: Database, writer: Writer, rowCache: RowCache): AccountStore {
  const findCached = rowCache.wrap('accounts', (id) => db.row<Row>(accountSql.find, [id]));
  return {
    add: (account) =>
      writer.write(
        async (tx) => (await addAccount(tx, { ...account, email: normalizeEmail(account.email) })) === 1,
        {
          inOneFlight: true,
        },
      ),
    find: async (id) => toAccount(await findCached(id)),
    findByEmail: async (email) =>
      toAccount(await db.row<Row>(accountSql.findByEmail, [normalizeEmail(email)])),
    list: async () => (await db.rows<Row>(accountSql.list)).flatMap((row) => toAccount(row) ?? []),
    setPassword: (id, passwordHash, from) => writer.write((tx) => changePassword(tx, id, passwordHash, from)),
    resetPassword: (resetId, passwordHash, at) =>
      writer.write(async (tx) => {
        const reset = await tx.row<{ accountId: string | null }>(accountSql.useReset, [
          ...[passwordResetKind, resetId, at],
        ]);
        const id = reset?.accountId;
        return id && (await changePassword(tx, id, passwordHash)) ? id : undefined;
      }),
    setDisabled: (id, since) =>
      writer.write(async (tx) => {
        if ((await tx.run(accountSql.setDisabled, [id, since])) === 0) return false;
        if (since !== undefined) endAll(tx, id);
        return true;
      }),
    rehash: (id, from, to) =>
      writer.write(async (tx) => (await tx.run(accountSql.rehash, [id, from, to])) === 1, {
        inOneFlight: true,
      }),
    remove: (id) =>
      writer.write(async (tx) => (await tx.run(accountSql.remove, [id])) === 1, { inOneFlight: true }),
  };
}

function addAccount(
  tx: Transaction,
  { id, email, passwordHash, createdAt, disabledAt }: Account,
): Promise<number> {
  return tx.run(accountSql.add, [id, email, passwordHash, createdAt, disabledAt]);
}

/** Removes the sessions and grants of an account. */
function endAll(tx: Transaction, id: string): void {
  tx.send(accountSql.endGrants, [id]);
  tx.send(accountSql.endSessions, [id]);
}

async function changePassword(
  tx: Transaction,
  id: string,
  passwordHash: string,
  from?: string,
): Promise<boolean> {
  if ((await tx.run(accountSql.setPassword, [id, passwordHash, from])) === 0) return false;
  endAll(tx, id);
  return true;
}

const identitySql = {
  findAccount: 'SELECT account_id AS "accountId" FROM identities WHERE issuer = $1 AND subject = $2',
  findSubject: 'SELECT subject FROM identities WHERE issuer = $1 AND account_id = $2',
  listOf: `SELECT issuer, subject, created_at AS "linkedAt" FROM identities WHERE account_id = $1
     ORDER BY created_at, issuer`,
  forget: 'DELETE FROM identities WHERE issuer = $1 AND account_id = $2',
  // One statement: a later one would also see what other writes of the flight have done since.
  link: `WITH linked AS (
       INSERT INTO identities (issuer, subject, account_id, created_at)
       SELECT $1, $2, id, $4 FROM accounts WHERE id = $3 ON CONFLICT DO NOTHING RETURNING issuer
     )
     SELECT EXISTS (SELECT FROM accounts WHERE id = $3) AS "isKnown",
       EXISTS (SELECT FROM linked)
         OR EXISTS (SELECT FROM identities WHERE issuer = $1 AND subject = $2 AND account_id = $3) AS "isLinked"`,
  canLogIn: `SELECT EXISTS (SELECT FROM passkeys WHERE account_id = $1)
       OR EXISTS (SELECT FROM identities WHERE account_id = $1 AND issuer = ANY ($2)) AS "canLogIn"`,
} as const;

/** Creates the identity store of a PostgreSQL database. */
export function createIdentityStore(db: Database, writer: Writer): IdentityStore {
  return {
    findAccount: async ({ issuer, subject }) =>
      (await db.row<{ accountId: string }>(identitySql.findAccount, [issuer, subject]))?.accountId,
    findSubject: async (issuer, accountId) =>
      (await db.row<{ subject: string }>(identitySql.findSubject, [issuer, accountId]))?.subject,
    listOf: (accountId) => db.rows<KnownIdentity>(identitySql.listOf, [accountId]),
    forget: (issuer, accountId, issuers) =>
      writer.write((tx) =>
        keepLoginMethod(
          tx,
          accountId,
          issuers,
          async () => (await tx.run(identitySql.forget, [issuer, accountId])) === 1,
        ),
      ),
  };
}

/**
 * Applies a change of identities within a transaction, in one flight.
 * @returns the conflict if the change is rejected
 */
export async function applyIdentityChange(
  tx: Transaction,
  change: IdentityChange,
): Promise<Conflict | undefined> {
  if (change.type === 'addAccount') {
    const { account } = change;
    return (await addAccount(tx, account)) === 1
      ? undefined
      : { reason: 'present', kind: 'Account', id: account.id };
  }
  const { issuer, subject, accountId, at } = change;
  const found = await tx.row<{ isKnown: boolean; isLinked: boolean }>(identitySql.link, [
    ...[issuer, subject, accountId, at],
  ]);
  if (found?.isLinked) return undefined;
  return found?.isKnown
    ? { reason: 'present', kind: 'Identity', id: accountId }
    : { reason: 'orphan', kind: 'Identity' };
}

/**
 * Keeps the last login method of an account without a password: runs a removal, which is undone if the account had a
 * passkey or an identity at one of the issuers and has none afterwards. Without issuers it checks nothing.
 * @throws LastLoginMethod
 */
export async function keepLoginMethod<T>(
  tx: Transaction,
  accountId: string,
  issuers: readonly string[] | undefined,
  removal: () => Promise<T>,
): Promise<T> {
  if (issuers === undefined) return removal();
  const canLogIn = async (): Promise<boolean> =>
    (await tx.row<{ canLogIn: boolean }>(identitySql.canLogIn, [accountId, issuers]))?.canLogIn === true;
  const couldLogIn = await canLogIn();
  const removed = await removal();
  if (couldLogIn && !(await canLogIn())) throw new LastLoginMethod();
  return removed;
}
