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
import type { Database, Value } from '../connection/database.ts';
import type { RowCache } from '../connection/row-cache.ts';
import type { Transaction, Writer } from '../connection/writer.ts';

/** Resolution of the last use of a client, in seconds. */
export const useResolutionSeconds = 86_400;

type Row<T extends { usedAt?: number }> = Omit<T, 'usedAt'> & { usedAt: number | null };

function withoutNull<T extends { usedAt?: number }>({ usedAt, ...row }: Row<T>): T {
  return { ...row, ...(usedAt === null ? undefined : { usedAt }) } as T;
}

const columns = 'id, payload, created_at AS "createdAt", status, origin, used_at AS "usedAt"';

/** Returns the query for the client whose id an expression gives; without clients that were removed. */
export const selectClient = (id: string): string =>
  `SELECT ${columns} FROM clients WHERE id = ${id} AND status <> 'removed'`;

const insertClient =
  'INSERT INTO clients (id, payload, created_at, status, origin) VALUES ($1, $2, $3, $4, $5)';

const nobodyUsed = `used_at IS NULL AND decided_at IS NULL AND origin = 'registered' AND status <> 'removed'`;

const sql = {
  /**
   * Inserts a client, or updates its payload and status; statistics and decisions stay. The statement does not see its
   * own row, so what it finds was there before.
   */
  put: `${insertClient} ON CONFLICT (id) DO UPDATE SET payload = excluded.payload, status = excluded.status
     RETURNING NOT EXISTS (SELECT FROM clients AS known WHERE known.id = $1) AS "isNew"`,
  /** Inserts a client; an existing one stays as it is. */
  keep: `${insertClient} ON CONFLICT (id) DO NOTHING`,
  find: selectClient('$1'),
  findByToken: `SELECT ${columns} FROM clients WHERE token_hash = $1`,
  list: `SELECT ${columns}, (SELECT count(*) FROM grants WHERE client_id = clients.id) AS grants
     FROM clients WHERE status <> 'removed' ORDER BY created_at, id`,
  listOfOperator: `SELECT ${columns} FROM clients WHERE origin <> 'registered' ORDER BY created_at, id`,
  wasRemoved: `SELECT 1 AS found FROM clients WHERE id = $1 AND status = 'removed'`,
  decide: `UPDATE clients SET status = $2, decided_at = $3 WHERE id = $1 AND status <> 'removed'`,
  removeVisible: `DELETE FROM clients WHERE id = $1 AND status <> 'removed'`,
  remember: `INSERT INTO clients (id, payload, created_at, status) VALUES ($1, '', $2, 'removed')
     ON CONFLICT (id) DO NOTHING`,
  forgetDocument: 'DELETE FROM client_documents WHERE url = $1',
  endGrants: 'DELETE FROM grants WHERE client_id = $1',
  endArtifacts: 'DELETE FROM artifacts WHERE client_id = $1',
  // Objects of accounts are removed with their grants.
  endOwnObjects: 'DELETE FROM backend_objects WHERE client_id = $1 AND grant_number IS NULL',
  remove: 'DELETE FROM clients WHERE id = $1',
  setToken: 'UPDATE clients SET token_hash = $2 WHERE id = $1',
  holdsToken: 'SELECT 1 AS found FROM clients WHERE id = $1 AND token_hash = $2',
  use: `UPDATE clients SET used_at = $2
     WHERE id = $1 AND (used_at IS NULL OR used_at < $2::bigint - ${useResolutionSeconds})`,
  useInvitation: `UPDATE invitations SET uses_left = uses_left - 1
     WHERE id = $1 AND uses_left > 0 AND expires_at > $2`,
  takeRoom: 'UPDATE unused_client_room SET room = room - $1 WHERE max_unused = $2 AND room >= $1',
  setRoom: 'UPDATE unused_client_room SET room = $1, max_unused = $2',
  countUnused: `SELECT count(*) AS unused FROM clients WHERE ${nobodyUsed}`,
  removeOldest: `DELETE FROM clients WHERE id IN (SELECT id FROM clients
       WHERE ${nobodyUsed} AND id <> ALL ($1) AND NOT EXISTS (SELECT FROM artifacts WHERE client_id = clients.id)
       ORDER BY created_at, id LIMIT $2)`,
} as const;

/** Everything issued to a client, its document and the client itself. */
const removals = [sql.endGrants, sql.endArtifacts, sql.forgetDocument, sql.removeVisible] as const;

/** Returns the values of a client with its defaults. */
function toValues({
  id,
  payload,
  createdAt,
  status = 'approved',
  origin = 'registered',
}: NewClient): Value[] {
  return [id, payload, createdAt, status, origin];
}

/** Creates the client store of a PostgreSQL database. */
export function createClientStore(db: Database, writer: Writer, rowCache: RowCache): ClientStore {
  const findCached = rowCache.wrap('clients', (id) => db.row<Row<ClientRow>>(sql.find, [id]));

  function removeAll(tx: Transaction, id: string): void {
    for (const removal of removals) tx.send(removal, [id]);
  }

  return {
    put: (client) => writer.write(async (tx) => tx.send(sql.put, toValues(client)), { inOneFlight: true }),
    add: (client) =>
      writer.write(async (tx) => (await tx.run(sql.keep, toValues(client))) === 1, { inOneFlight: true }),
    find: async (id) => {
      const row = await findCached(id);
      return row && withoutNull(row);
    },
    findByToken: async (hash) => {
      const row = await db.row<Row<ClientRow>>(sql.findByToken, [hash]);
      return row && withoutNull(row);
    },
    wasRemoved: async (id) => (await db.row(sql.wasRemoved, [id])) !== undefined,
    list: async () => (await db.rows<Row<ListedClient>>(sql.list)).map(withoutNull<ListedClient>),
    listOfOperator: async () =>
      (await db.rows<Row<ClientRow>>(sql.listOfOperator)).map(withoutNull<ClientRow>),
    replaceSettings: (clients) =>
      writer.write(async (tx) => {
        const before = await tx.rows<Row<ClientRow>>(sql.listOfOperator);
        const ofSettings = new Set(before.filter(({ origin }) => origin === 'settings').map(({ id }) => id));
        const kept = new Set(clients.map(({ id }) => id));
        const gone = [...ofSettings].filter((id) => !kept.has(id));
        for (const id of gone) removeAll(tx, id);
        for (const client of clients) {
          if (!ofSettings.has(client.id)) removeAll(tx, client.id);
          ofSettings.add(client.id);
          tx.send(sql.put, toValues({ ...client, origin: 'settings' }));
        }
        return gone;
      }),
    decide: (id, status, at) =>
      writer.write(async (tx) => {
        if ((await tx.run(sql.decide, [id, status, at])) === 0) return false;
        if (status === 'denied')
          for (const ending of [sql.endGrants, sql.endArtifacts]) tx.send(ending, [id]);
        return true;
      }),
    remove: (id, rememberAt) =>
      writer.write(
        async (tx) => {
          const changes = removals.map((removal) => tx.run(removal, [id]));
          if (rememberAt !== undefined) changes.push(tx.run(sql.remember, [id, rememberAt]));
          return (await Promise.all(changes)).some((rows) => rows > 0);
        },
        { inOneFlight: true },
      ),
  };
}

/** A client stored in this commit, and the limit of unused clients. */
interface NewOne {
  id: string;
  maxUnused: number;
}

/**
 * Creates the limit of unused registrations, enforced at the end of each commit. Counting takes time in proportion to
 * their number, so it is done once per hundredth of the limit, over all nodes, and as many are removed at once.
 * @returns registers a client stored in this commit, which is never evicted by it
 */
function createUnusedLimit(writer: Pick<Writer, 'gather'>): (client: NewOne) => void {
  return writer.gather<NewOne, undefined>({
    // Read only if a client was stored: most commits store none.
    read: async () => undefined,
    async finish(tx, stored) {
      const maxUnused = Math.min(...stored.map((client) => client.maxUnused));
      if ((await tx.run(sql.takeRoom, [stored.length, maxUnused])) === 1) return;
      const atOnce = Math.floor(maxUnused / 100);
      const counted = await tx.row<{ unused: number }>(sql.countUnused);
      const over = (counted?.unused ?? 0) - maxUnused;
      // Clients in a login stay, so the next commit counts again after a removal.
      tx.send(sql.setRoom, [Math.max(0, Math.min(atOnce, -over)), maxUnused]);
      if (over > 0) tx.send(sql.removeOldest, [stored.map(({ id }) => id), over + atOnce]);
    },
  });
}

/**
 * Creates the function that applies changes of clients within a transaction, in one flight.
 * @returns applies a change; resolves with the conflict if it is rejected
 */
export function createClientChanges(
  writer: Pick<Writer, 'gather'>,
): (tx: Transaction, change: ClientChange) => Promise<Conflict | undefined> {
  const makeRoom = createUnusedLimit(writer);
  const refused = (kind: string, id: string): Conflict => ({ reason: 'missing', kind, id });

  function end(tx: Transaction, id: string): void {
    for (const ending of [sql.endGrants, sql.endArtifacts, sql.endOwnObjects]) tx.send(ending, [id]);
  }

  return async (tx, change) => {
    switch (change.type) {
      case 'putClient': {
        const { client, maxUnused } = change;
        const put = await tx.row<{ isNew: boolean }>(sql.put, toValues(client));
        if (put?.isNew) makeRoom({ id: client.id, maxUnused });
        return undefined;
      }
      case 'keepClient': {
        const { client } = change;
        const removed = tx.row(sql.wasRemoved, [client.id]);
        tx.send(sql.keep, toValues(client));
        return (await removed) ? refused('Client', client.id) : undefined;
      }
      case 'removeClient':
        end(tx, change.id);
        tx.send(sql.remove, [change.id]);
        return undefined;
      case 'endClient':
        end(tx, change.id);
        return undefined;
      case 'setRegistrationToken':
        tx.send(sql.setToken, [change.clientId, change.hash]);
        return undefined;
      case 'requireRegistrationToken':
        return (await tx.row(sql.holdsToken, [change.clientId, change.hash]))
          ? undefined
          : refused('RegistrationAccessToken', change.hash);
      case 'useClient':
        tx.send(sql.use, [change.clientId, change.at]);
        return undefined;
      case 'useInvitation':
        return (await tx.run(sql.useInvitation, [change.id, change.at])) === 1
          ? undefined
          : refused('InitialAccessToken', change.id);
    }
  };
}

const documentColumns = 'url, payload, fetched_at AS "fetchedAt", fresh_until AS "freshUntil"';

const documentSql = {
  find: `SELECT ${documentColumns} FROM client_documents WHERE url = $1`,
  list: `SELECT ${documentColumns}, (SELECT count(*) FROM grants WHERE client_id = url) AS grants,
       (SELECT max(used_at) FROM grants WHERE client_id = url) AS "usedAt"
     FROM client_documents ORDER BY fetched_at, url`,
  put: `INSERT INTO client_documents (url, payload, fetched_at, fresh_until) VALUES ($1, $2, $3, $4)
     ON CONFLICT (url) DO UPDATE SET payload = excluded.payload, fetched_at = excluded.fetched_at,
       fresh_until = excluded.fresh_until`,
  dropOthers: `DELETE FROM client_documents WHERE url IN (SELECT url FROM client_documents WHERE url <> $1
       ORDER BY EXISTS (SELECT FROM grants WHERE client_id = url), fetched_at, url
       LIMIT greatest(0, (SELECT count(*) FROM client_documents) - $2))`,
  remove: 'DELETE FROM client_documents WHERE url = $1',
} as const;

/** Creates the store of client documents in a PostgreSQL database. */
export function createClientDocumentStore(db: Database, writer: Writer): ClientDocumentStore {
  return {
    find: (url) => db.row<ClientDocumentRow>(documentSql.find, [url]),
    list: async () => (await db.rows<Row<ListedDocument>>(documentSql.list)).map(withoutNull<ListedDocument>),
    put: ({ url, payload, fetchedAt, freshUntil }, maxDocuments) =>
      writer.write(
        async (tx) => {
          tx.send(documentSql.put, [url, payload, fetchedAt, freshUntil]);
          tx.send(documentSql.dropOthers, [url, maxDocuments]);
        },
        { inOneFlight: true },
      ),
    remove: (url) => writer.write(async (tx) => tx.send(documentSql.remove, [url]), { inOneFlight: true }),
  };
}

const invitationSql = {
  add: 'INSERT INTO invitations (id, uses_left, created_at, expires_at) VALUES ($1, $2, $3, $4)',
  find: `SELECT id, uses_left AS "usesLeft", created_at AS "createdAt", expires_at AS "expiresAt"
     FROM invitations WHERE id = $1`,
} as const;

/** Creates the invitation store of a PostgreSQL database. */
export function createInvitationStore(db: Database, writer: Writer): InvitationStore {
  return {
    add: ({ id, usesLeft, createdAt, expiresAt }) =>
      writer.write(async (tx) => tx.send(invitationSql.add, [id, usesLeft, createdAt, expiresAt]), {
        inOneFlight: true,
      }),
    find: (id) => db.row<Invitation>(invitationSql.find, [id]),
  };
}
