import type Database from 'better-sqlite3';
import type { Conflict } from '../../artifacts.ts';
import type {
  ClientChange,
  ClientDocumentRow,
  ClientDocumentStore,
  ClientRow,
  ClientStore,
  Invitation,
  InvitationStore,
  ListedClient,
  ListedDocument,
  NewClient,
} from '../../clients.ts';
import type { CacheRows } from '../connection/row-cache.ts';
import type { Writer } from '../connection/writer.ts';

type Row<T extends ClientRow> = Omit<T, 'usedAt'> & { usedAt: number | null };

function toClient<T extends ClientRow>({ usedAt, ...row }: Row<T>): T {
  return { ...row, ...(usedAt === null ? undefined : { usedAt }) } as T;
}

/** Creates the client store of a SQLite database. */
export function createClientStore(db: Database.Database, writer: Writer, cacheRows: CacheRows): ClientStore {
  const columns = 'id, payload, created_at AS createdAt, status, origin, used_at AS usedAt';
  const put = db.prepare(putClientSql);
  const find = db.prepare<[string], Row<ClientRow>>(
    `SELECT ${columns} FROM clients WHERE id = ? AND status <> 'removed'`,
  );
  const findCached = cacheRows('clients', (id) => find.get(id));
  const findByToken = db.prepare<[string], Row<ClientRow>>(
    `SELECT ${columns} FROM clients WHERE token_hash = ?`,
  );
  const list = db.prepare<[], Row<ListedClient>>(
    `SELECT ${columns}, (SELECT count(*) FROM grants WHERE client_id = clients.id) AS grants
     FROM clients WHERE status <> 'removed' ORDER BY created_at, id`,
  );
  const add = db.prepare(keepClientSql);
  const listOfOperator = db.prepare<[], Row<ClientRow>>(
    `SELECT ${columns} FROM clients WHERE origin <> 'registered' ORDER BY created_at, id`,
  );
  const wasRemoved = db
    .prepare<[string], number>(`SELECT 1 FROM clients WHERE id = ? AND status = 'removed'`)
    .pluck();
  const decide = db.prepare(
    `UPDATE clients SET status = ?, decided_at = ? WHERE id = ? AND status <> 'removed'`,
  );
  const remove = db.prepare(`DELETE FROM clients WHERE id = ? AND status <> 'removed'`);
  const remember = db.prepare(
    `INSERT INTO clients (id, payload, created_at, status) VALUES (?, x'', ?, 'removed') ON CONFLICT (id) DO NOTHING`,
  );
  const forgetDocument = db.prepare('DELETE FROM client_documents WHERE url = ?');
  const endGrants = db.prepare('DELETE FROM grants WHERE client_id = ?');
  const endArtifacts = db.prepare('DELETE FROM artifacts WHERE client_id = ?');
  const removals = [endGrants, endArtifacts, forgetDocument, remove];

  const removeAll = (id: string): boolean =>
    removals.filter((statement) => statement.run(id).changes > 0).length > 0;

  return {
    put: (client) => writer.write(() => void put.run(toClientColumns(client))),
    add: (client) => writer.write(() => add.run(toClientColumns(client)).changes === 1),
    find: async (id) => {
      const row = findCached(id);
      return row && toClient(row);
    },
    findByToken: async (hash) => {
      const row = findByToken.get(hash);
      return row && toClient(row);
    },
    wasRemoved: async (id) => wasRemoved.get(id) !== undefined,
    list: async () => list.all().map(toClient<ListedClient>),
    listOfOperator: async () => listOfOperator.all().map(toClient<ClientRow>),
    replaceSettings: (clients) =>
      writer.write(() => {
        const kept = new Set(clients.map(({ id }) => id));
        const gone = listOfOperator.all().filter(({ id, origin }) => origin === 'settings' && !kept.has(id));
        for (const { id } of gone) removeAll(id);
        for (const client of clients) {
          if (find.get(client.id)?.origin !== 'settings') removeAll(client.id);
          put.run(toClientColumns({ ...client, origin: 'settings' }));
        }
        return gone.map(({ id }) => id);
      }),
    decide: (id, status, at) =>
      writer.write(() => {
        if (decide.run(status, at, id).changes === 0) return false;
        if (status === 'denied') for (const statement of [endGrants, endArtifacts]) statement.run(id);
        return true;
      }),
    remove: (id, rememberAt) =>
      writer.write(() => {
        const isGone = removeAll(id);
        if (rememberAt === undefined) return isGone;
        return remember.run(id, rememberAt).changes > 0 || isGone;
      }),
  };
}

/** Resolution of the last use of a client, in seconds. */
const useResolutionSeconds = 86_400;

/** Adds the defaults of a client. */
function toClientColumns(client: NewClient): Required<NewClient> {
  return { status: 'approved', origin: 'registered', ...client };
}

/** Inserts a client, or updates its payload and status; statistics and decisions stay. */
const putClientSql = `INSERT INTO clients (id, payload, created_at, status, origin)
   VALUES (@id, @payload, @createdAt, @status, @origin)
   ON CONFLICT (id) DO UPDATE SET payload = excluded.payload, status = excluded.status`;

/** Inserts a client; an existing one stays as it is. */
const keepClientSql = `INSERT INTO clients (id, payload, created_at, status, origin)
   VALUES (@id, @payload, @createdAt, @status, @origin)
   ON CONFLICT (id) DO NOTHING`;

const nobodyUsed = `used_at IS NULL AND decided_at IS NULL AND origin = 'registered' AND status <> 'removed'`;

/** A client stored in this commit, and the limit of unused clients. */
interface NewOne {
  id: string;
  maxUnused: number;
}

/**
 * Creates the limit of unused registrations, enforced at the end of each commit. Counting takes time in proportion to
 * their number, so it is done once per hundredth of the limit, and as many are removed at once.
 * @returns registers a client stored in this commit, which is never evicted by it
 */
function createUnusedLimit(db: Database.Database, writer: Pick<Writer, 'gather'>): (client: NewOne) => void {
  const count = db.prepare<[], number>(`SELECT count(*) FROM clients WHERE ${nobodyUsed}`).pluck();
  const removeOldest = db.prepare<[string, number]>(
    `DELETE FROM clients WHERE id IN (SELECT id FROM clients
       WHERE ${nobodyUsed} AND id NOT IN (SELECT value FROM json_each(?))
         AND NOT EXISTS (SELECT 1 FROM artifacts WHERE client_id = clients.id)
       ORDER BY created_at, id
       LIMIT ?)`,
  );
  let surelyFit = 0;
  let bound: number | undefined;
  return writer.gather<NewOne>((stored) => {
    const maxUnused = Math.min(...stored.map((client) => client.maxUnused));
    if (bound === maxUnused && surelyFit >= stored.length) {
      surelyFit -= stored.length;
      return;
    }
    bound = maxUnused;
    const atOnce = Math.floor(maxUnused / 100);
    const over = (count.get() ?? 0) - maxUnused;
    // A failed commit undoes the removal, so the next commit counts again after a removal.
    surelyFit = Math.max(0, Math.min(atOnce, -over));
    if (over > 0) removeOldest.run(JSON.stringify(stored.map(({ id }) => id)), over + atOnce);
  });
}

/**
 * Creates the function that applies changes of clients within a transaction.
 * @returns applies a change; returns the conflict if it is rejected
 */
export function createClientChanges(
  db: Database.Database,
  writer: Pick<Writer, 'gather'>,
): (change: ClientChange) => Conflict | undefined {
  const isKnown = db.prepare<[string], number>('SELECT 1 FROM clients WHERE id = ?').pluck();
  const put = db.prepare(putClientSql);
  const makeRoom = createUnusedLimit(db, writer);
  const keep = db.prepare(keepClientSql);
  const wasRemoved = db
    .prepare<[string], number>(`SELECT 1 FROM clients WHERE id = ? AND status = 'removed'`)
    .pluck();
  const remove = db.prepare('DELETE FROM clients WHERE id = ?');
  const endGrants = db.prepare('DELETE FROM grants WHERE client_id = ?');
  const endArtifacts = db.prepare('DELETE FROM artifacts WHERE client_id = ?');
  // Objects of accounts are removed with their grants.
  const endOwnObjects = db.prepare(
    'DELETE FROM backend_objects WHERE client_id = ? AND grant_number IS NULL',
  );
  const setToken = db.prepare('UPDATE clients SET token_hash = ? WHERE id = ?');
  const holdsToken = db
    .prepare<[string, string], number>('SELECT 1 FROM clients WHERE id = ? AND token_hash = ?')
    .pluck();
  const use = db.prepare<{ clientId: string; at: number }>(
    `UPDATE clients SET used_at = @at
     WHERE id = @clientId AND (used_at IS NULL OR used_at < @at - ${useResolutionSeconds})`,
  );
  const useInvitation = db.prepare(
    'UPDATE invitations SET uses_left = uses_left - 1 WHERE id = ? AND uses_left > 0 AND expires_at > ?',
  );
  const refused = (kind: string, id: string): Conflict => ({ reason: 'missing', kind, id });

  function end(id: string): void {
    endGrants.run(id);
    endArtifacts.run(id);
    endOwnObjects.run(id);
  }

  return (change) => {
    switch (change.type) {
      case 'putClient': {
        const isNew = isKnown.get(change.client.id) === undefined;
        put.run(toClientColumns(change.client));
        if (isNew) makeRoom({ id: change.client.id, maxUnused: change.maxUnused });
        return undefined;
      }
      case 'keepClient':
        if (wasRemoved.get(change.client.id)) return refused('Client', change.client.id);
        keep.run(toClientColumns(change.client));
        return undefined;
      case 'removeClient':
        end(change.id);
        remove.run(change.id);
        return undefined;
      case 'endClient':
        end(change.id);
        return undefined;
      case 'setRegistrationToken':
        setToken.run(change.hash, change.clientId);
        return undefined;
      case 'requireRegistrationToken':
        return holdsToken.get(change.clientId, change.hash)
          ? undefined
          : refused('RegistrationAccessToken', change.hash);
      case 'useClient':
        use.run(change);
        return undefined;
      case 'useInvitation':
        return useInvitation.run(change.id, change.at).changes === 1
          ? undefined
          : refused('InitialAccessToken', change.id);
    }
  };
}

/** Creates the store of client documents in a SQLite database. */
export function createClientDocumentStore(db: Database.Database, writer: Writer): ClientDocumentStore {
  const find = db.prepare<[string], ClientDocumentRow>(
    `SELECT url, payload, fetched_at AS fetchedAt, fresh_until AS freshUntil FROM client_documents WHERE url = ?`,
  );
  const list = db.prepare<[], Omit<ListedDocument, 'usedAt'> & { usedAt: number | null }>(
    `SELECT url, payload, fetched_at AS fetchedAt, fresh_until AS freshUntil,
       (SELECT count(*) FROM grants WHERE client_id = url) AS grants,
       (SELECT max(used_at) FROM grants WHERE client_id = url) AS usedAt
     FROM client_documents ORDER BY fetched_at, url`,
  );
  const put = db.prepare(
    `INSERT INTO client_documents (url, payload, fetched_at, fresh_until) VALUES (@url, @payload, @fetchedAt, @freshUntil)
     ON CONFLICT (url) DO UPDATE SET payload = excluded.payload, fetched_at = excluded.fetched_at,
       fresh_until = excluded.fresh_until`,
  );
  const dropOthers = db.prepare(
    `DELETE FROM client_documents WHERE url IN (SELECT url FROM client_documents WHERE url <> @url
       ORDER BY EXISTS (SELECT 1 FROM grants WHERE client_id = url), fetched_at, url
       LIMIT max(0, (SELECT count(*) FROM client_documents) - @maxDocuments))`,
  );
  const remove = db.prepare('DELETE FROM client_documents WHERE url = ?');

  return {
    find: async (url) => find.get(url),
    list: async () =>
      list.all().map(({ usedAt, ...row }) => ({ ...row, ...(usedAt === null ? undefined : { usedAt }) })),
    put: (document, maxDocuments) =>
      writer.write(() => {
        put.run(document);
        dropOthers.run({ url: document.url, maxDocuments });
      }),
    remove: (url) => writer.write(() => void remove.run(url)),
  };
}

/** Creates the invitation store of a SQLite database. */
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
