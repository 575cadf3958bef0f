-- Accounts, clients, grants, and everything the authorization server hands out.
-- Names of secrets are hashes; payloads are sealed. Times are epoch seconds.

CREATE TABLE accounts (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE,
  password_hash TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE clients (
  id TEXT PRIMARY KEY,
  payload BLOB NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The consent record. What hangs on it dies with it.
CREATE TABLE grants (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  client_id TEXT NOT NULL,
  payload BLOB NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX grants_account ON grants (account_id);
CREATE INDEX grants_client ON grants (client_id);
CREATE INDEX grants_expiry ON grants (expires_at);

-- Codes, tokens, sessions, interactions: one row each.
CREATE TABLE artifacts (
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  grant_id TEXT REFERENCES grants (id) ON DELETE CASCADE,
  account_id TEXT REFERENCES accounts (id) ON DELETE CASCADE,
  client_id TEXT,
  uid TEXT,
  payload BLOB NOT NULL,
  revision INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0,
  consumed_at INTEGER,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (id, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX artifacts_grant ON artifacts (grant_id) WHERE grant_id IS NOT NULL;
CREATE INDEX artifacts_account ON artifacts (account_id) WHERE account_id IS NOT NULL;
CREATE INDEX artifacts_client ON artifacts (client_id) WHERE client_id IS NOT NULL;
CREATE INDEX artifacts_uid ON artifacts (kind, uid) WHERE uid IS NOT NULL;
CREATE INDEX artifacts_expiry ON artifacts (expires_at);

-- The notes of the server that ships.
CREATE TABLE notes (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  text TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX notes_account ON notes (account_id, created_at);
