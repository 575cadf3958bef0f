import type Database from 'better-sqlite3';
import type { ClientRow, ClientStore } from '../clients.ts';
import type { Writer } from './writer.ts';

/** The registered clients of a SQLite database. */
export function createClientStore(db: Database.Database, writer: Writer): ClientStore {
  const columns = 'id, payload, created_at AS createdAt';
  const put = db.prepare(
    `INSERT INTO clients (id, payload, created_at) VALUES (@id, @payload, @createdAt)
     ON CONFLICT (id) DO UPDATE SET payload = excluded.payload`,
  );
  const find = db.prepare<[string], ClientRow>(`SELECT ${columns} FROM clients WHERE id = ?`);
  const list = db.prepare<[], ClientRow>(`SELECT ${columns} FROM clients ORDER BY created_at, id`);
  const remove = db.prepare('DELETE FROM clients WHERE id = ?');
  const forgetDocument = db.prepare('DELETE FROM client_documents WHERE url = ?');
  const endGrants = db.prepare('DELETE FROM grants WHERE client_id = ?');
  const endArtifacts = db.prepare('DELETE FROM artifacts WHERE client_id = ?');

  return {
    put: (client) => writer.write(() => void put.run(client)),
    find: async (id) => find.get(id),
    list: async () => list.all(),
    remove: (id) =>
      writer.write(() => {
        const removals = [endGrants, endArtifacts, forgetDocument, remove];
        return removals.filter((statement) => statement.run(id).changes > 0).length > 0;
      }),
  };
}
