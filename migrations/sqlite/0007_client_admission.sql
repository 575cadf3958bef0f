-- Who may be a client: whether the operator let it in, the token it manages its registration with (hashed), and
-- invitations to register (hashed). Times are epoch seconds.

ALTER TABLE clients ADD COLUMN status TEXT NOT NULL DEFAULT 'approved'
  CHECK (status IN ('approved', 'pending', 'denied', 'removed'));
ALTER TABLE clients ADD COLUMN decided_at INTEGER;
ALTER TABLE clients ADD COLUMN token_hash TEXT;
CREATE UNIQUE INDEX clients_token ON clients (token_hash) WHERE token_hash IS NOT NULL;

CREATE TABLE invitations (
  id TEXT PRIMARY KEY,
  uses_left INTEGER NOT NULL CHECK (uses_left >= 0),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX invitations_expiry ON invitations (expires_at);
