import type Database from 'better-sqlite3';
import type { ClientRow, ClientStore, ListedClient } from '../clients.ts';
import { keepClientSql, putClientSql, toClientColumns } from './client-changes.ts';
import type { KeepRows } from './steady-rows.ts';
import type { Writer } from './writer.ts';

type Row<T extends ClientRow> = Omit<T, 'usedAt'> & { usedAt: number | null };

function toClient<T extends ClientRow>({ usedAt, ...row }: Row<T>): T {
  return { ...row, ...(usedAt === null ? undefined : { usedAt }) } as T;
}

/** The registered clients of a SQLite database. */
export function createClientStore(db: Database.Database, writer: Writer, keepRows: KeepRows): ClientStore {
  const columns = 'id, payload, created_at AS createdAt, status, origin, used_at AS usedAt';
  const put = db.prepare(putClientSql);
  const find = db.prepare<[string], Row<ClientRow>>(
    `SELECT ${columns} FROM clients WHERE id = ? AND status <> 'removed'`,
  );
  const findKept = keepRows('clients', (id) => find.get(id));
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
      const row = findKept(id);
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
