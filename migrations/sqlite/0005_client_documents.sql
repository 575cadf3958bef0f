-- What clients say about themselves in documents at their own URLs, as it was fetched last. Payloads are sealed.
-- Times are epoch seconds.

CREATE TABLE client_documents (
  url TEXT PRIMARY KEY,
  payload BLOB NOT NULL,
  fetched_at INTEGER NOT NULL,
  fresh_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX client_documents_age ON client_documents (fetched_at);
