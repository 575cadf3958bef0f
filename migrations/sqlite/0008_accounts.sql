-- Accounts that are shut, when a grant was last used, and the ways to log in beside a password. Times are epoch seconds.

ALTER TABLE accounts ADD COLUMN disabled_at INTEGER;
ALTER TABLE grants ADD COLUMN used_at INTEGER;

-- Public keys only: what signs stays with the person.
CREATE TABLE passkeys (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  public_key BLOB NOT NULL,
  counter INTEGER NOT NULL,
  is_synced INTEGER NOT NULL CHECK (is_synced IN (0, 1)),
  transports TEXT NOT NULL CHECK (json_valid(transports)),
  created_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX passkeys_account ON passkeys (account_id, created_at);

-- The secret is sealed; a time step is taken once.
CREATE TABLE one_time_codes (
  account_id TEXT PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
  secret BLOB NOT NULL,
  last_step INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Hashes; each is taken once.
CREATE TABLE recovery_codes (
  account_id TEXT NOT NULL REFERENCES one_time_codes (account_id) ON DELETE CASCADE,
  id TEXT NOT NULL,
  PRIMARY KEY (account_id, id)
) STRICT, WITHOUT ROWID;
