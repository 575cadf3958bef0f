-- Artifacts in the order of their arrival. In the order of their names, which are hashes, each new one would be written to
-- another page, and payloads in the nodes of the tree would make it deep.

CREATE TABLE artifacts_by_arrival (
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  grant_id TEXT REFERENCES grants (id) ON DELETE CASCADE,
  account_id TEXT REFERENCES accounts (id) ON DELETE CASCADE,
  upstream_session_id TEXT REFERENCES upstream_sessions (id) ON DELETE CASCADE,
  client_id TEXT,
  uid TEXT,
  payload BLOB NOT NULL,
  revision INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0,
  consumed_at INTEGER,
  expires_at INTEGER NOT NULL,
  UNIQUE (id, kind)
) STRICT;
INSERT INTO artifacts_by_arrival (id, kind, grant_id, account_id, upstream_session_id, client_id, uid, payload, revision,
    failures, consumed_at, expires_at)
  SELECT id, kind, grant_id, account_id, upstream_session_id, client_id, uid, payload, revision, failures, consumed_at,
    expires_at FROM artifacts;
DROP TABLE artifacts;
ALTER TABLE artifacts_by_arrival RENAME TO artifacts;
CREATE INDEX artifacts_grant ON artifacts (grant_id) WHERE grant_id IS NOT NULL;
CREATE INDEX artifacts_account ON artifacts (account_id) WHERE account_id IS NOT NULL;
CREATE INDEX artifacts_client ON artifacts (client_id) WHERE client_id IS NOT NULL;
CREATE INDEX artifacts_uid ON artifacts (kind, uid) WHERE uid IS NOT NULL;
CREATE INDEX artifacts_expiry ON artifacts (expires_at);
CREATE INDEX artifacts_upstream_session ON artifacts (upstream_session_id) WHERE upstream_session_id IS NOT NULL;
