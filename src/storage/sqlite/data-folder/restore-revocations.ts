import Database from 'better-sqlite3';
import { removeIssued } from '../../copied-tables.ts';

interface ClientState {
  id: string;
  status: string;
  decidedAt: number | null;
  tokenHash: string | null;
}

interface AccountState {
  id: string;
  email: string;
  passwordHash: string;
  disabledAt: number | null;
}

function readClients(db: Database.Database): ClientState[] {
  return db
    .prepare<[], ClientState>(
      'SELECT id, status, decided_at AS decidedAt, token_hash AS tokenHash FROM clients ORDER BY id',
    )
    .all();
}

function readAccounts(db: Database.Database): AccountState[] {
  return db
    .prepare<[], AccountState>(
      'SELECT id, email, password_hash AS passwordHash, disabled_at AS disabledAt FROM accounts ORDER BY email',
    )
    .all();
}

interface CredentialState {
  accountId: string;
  route: string;
  name: string;
}

function readCredentials(db: Database.Database): CredentialState[] {
  return db
    .prepare<[], CredentialState>('SELECT account_id AS accountId, route, name FROM backend_credentials')
    .all();
}

/** The state of the replaced database that the restored one takes over. */
interface PresentState {
  clients: ClientState[];
  accounts: AccountState[];
  /** Undefined if the database is older than this table. */
  credentials: CredentialState[] | undefined;
}

/** Reads the replaced database; undefined if it cannot be read or is too old. */
function readPresent(file: string): PresentState | undefined {
  let db: Database.Database | undefined;
  try {
    db = new Database(file, { readonly: true, fileMustExist: true });
    const hasCredentials = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'backend_credentials'").get();
    return {
      clients: readClients(db),
      accounts: readAccounts(db),
      credentials: hasCredentials ? readCredentials(db) : undefined,
    };
  } catch (error) {
    if (error instanceof Database.SqliteError) return undefined;
    throw error;
  } finally {
    db?.close();
  }
}

/** Restores the refusals of clients and their present registration access tokens. */
function carryClients(
  db: Database.Database,
  present: readonly ClientState[],
): Pick<RestoredRevocations, 'refusedClients' | 'renewedTokens'> {
  const restored = new Map(readClients(db).map((client) => [client.id, client]));
  const refuse = db.prepare<ClientState>(
    'UPDATE clients SET status = @status, decided_at = @decidedAt WHERE id = @id',
  );
  const renew = db.prepare<ClientState>('UPDATE clients SET token_hash = @tokenHash WHERE id = @id');
  const endings = ['grants', 'artifacts'].map((table) =>
    db.prepare<[string]>(`DELETE FROM ${table} WHERE client_id = ?`),
  );
  const refusedClients: string[] = [];
  let renewedTokens = 0;
  for (const client of present) {
    const before = restored.get(client.id);
    if (!before) continue;
    if (['denied', 'removed'].includes(client.status) && before.status !== client.status) {
      refuse.run(client);
      for (const ending of endings) ending.run(client.id);
      refusedClients.push(client.id);
    }
    if (client.tokenHash !== before.tokenHash) {
      renew.run(client);
      renewedTokens++;
    }
  }
  return { refusedClients, renewedTokens };
}

/** Disables accounts again, and finds accounts and passwords that are older than the replaced database. */
function carryAccounts(
  db: Database.Database,
  present: readonly AccountState[],
): Omit<RestoredRevocations, 'refusedClients' | 'renewedTokens'> {
  const now = new Map(present.map((account) => [account.id, account]));
  const disable = db.prepare<AccountState>('UPDATE accounts SET disabled_at = @disabledAt WHERE id = @id');
  const endings = ['grants', 'artifacts'].map((table) =>
    db.prepare<[string]>(`DELETE FROM ${table} WHERE account_id = ?`),
  );
  const found = {
    disabledAccounts: [] as string[],
    returnedAccounts: [] as string[],
    olderPasswords: [] as string[],
  };
  for (const { id, email, passwordHash, disabledAt } of readAccounts(db)) {
    const account = now.get(id);
    if (!account) found.returnedAccounts.push(email);
    else if (account.passwordHash !== passwordHash) found.olderPasswords.push(email);
    if (account && account.disabledAt !== null && disabledAt === null) {
      disable.run(account);
      for (const ending of endings) ending.run(id);
      found.disabledAccounts.push(email);
    }
  }
  return found;
}

/** Removes backend credentials again that users had removed. */
function carryCredentials(db: Database.Database, { accounts, credentials }: PresentState): void {
  if (!credentials) return;
  const nameOf = ({ accountId, route, name }: CredentialState): string =>
    JSON.stringify([accountId, route, name]);
  const known = new Set(accounts.map(({ id }) => id));
  const kept = new Set(credentials.map(nameOf));
  const remove = db.prepare<CredentialState>(
    'DELETE FROM backend_credentials WHERE account_id = @accountId AND route = @route AND name = @name',
  );
  for (const credential of readCredentials(db))
    if (known.has(credential.accountId) && !kept.has(nameOf(credential))) remove.run(credential);
}

/**
 * Restores, in a database that was put back from a backup, the refusals of the database that it replaces: denied or
 * removed clients, disabled accounts, replaced registration access tokens, removed credentials. A backup never undoes a
 * refusal that can still be read (T-173).
 * @param db the restored database, migrated
 * @param present path of the replaced database
 * @returns undefined if the replaced database cannot be read
 */
export function restoreRevocations(db: Database.Database, present: string): RestoredRevocations | undefined {
  const state = readPresent(present);
  if (!state) return undefined;
  return db
    .transaction(() => {
      carryCredentials(db, state);
      return { ...carryClients(db, state.clients), ...carryAccounts(db, state.accounts) };
    })
    .immediate();
}

/** Decisions made after the backup: those that were restored, and those that the operator has to make again. */
export interface RestoredRevocations {
  /** Ids of clients that were denied or removed since the backup, and are again. */
  refusedClients: string[];
  /** E-mail addresses of accounts that were disabled since the backup, and are again. */
  disabledAccounts: string[];
  /** Number of clients that keep their present registration access token instead of that of the backup. */
  renewedTokens: number;
  /** E-mail addresses of accounts that had been removed since the backup and are back. */
  returnedAccounts: string[];
  /** E-mail addresses of accounts whose password is that of the backup again. */
  olderPasswords: string[];
}

/** Removes everything that was issued ({@link removeIssued}). */
export function revokeAll(db: Database.Database): void {
  db.transaction(() => {
    for (const statement of removeIssued) db.exec(statement);
  }).immediate();
}
