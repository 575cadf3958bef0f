import Database from 'better-sqlite3';
import type { CarriedOver } from './carried-over.ts';

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

/** What is taken over of a database. */
interface PresentState {
  clients: ClientState[];
  accounts: AccountState[];
  /** Undefined where it is older than these are. */
  credentials: CredentialState[] | undefined;
}

/** Reads the database that is put aside; undefined where it cannot be read, or is older than what is read here. */
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

/** Takes over which clients may not be used, and the tokens by which clients manage their registrations. */
function carryClients(
  db: Database.Database,
  present: readonly ClientState[],
): Pick<CarriedOver, 'refusedClients' | 'renewedTokens'> {
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

/** Takes over which accounts are shut, and finds those of which something older counts again. */
function carryAccounts(
  db: Database.Database,
  present: readonly AccountState[],
): Omit<CarriedOver, 'refusedClients' | 'renewedTokens'> {
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

/** Removes again what people removed of what they had entered for backends. */
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
 * Takes over, into a database that was put back, what was refused in the one it replaces: clients that were denied or
 * removed, accounts that were disabled, registration access tokens that were replaced, credentials that people
 * removed. A refusal is never undone by a
 * backup where it can still be read (T-173).
 * @param db the database that was put back, migrated
 * @param present path of the one it replaces
 * @returns what was taken over, and what is older again; undefined where the present one cannot be read
 */
export function carryOver(db: Database.Database, present: string): CarriedOver | undefined {
  const state = readPresent(present);
  if (!state) return undefined;
  return db
    .transaction(() => {
      carryCredentials(db, state);
      return { ...carryClients(db, state.clients), ...carryAccounts(db, state.accounts) };
    })
    .immediate();
}
