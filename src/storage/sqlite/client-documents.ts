import type Database from 'better-sqlite3';
import type { ClientDocumentRow, ClientDocumentStore, ListedDocument } from '../client-documents.ts';
import type { Writer } from './writer.ts';

/** The fetched client documents of a SQLite database. */
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
