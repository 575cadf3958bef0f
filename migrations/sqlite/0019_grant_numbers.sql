-- Grants have a number, by which all that hangs on them is found. Of their names, which are long, a page of an index holds few:
-- each token that is issued would have some page of it split, or moved to its neighbours.

CREATE TABLE numbered_grants (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  client_id TEXT NOT NULL,
  payload BLOB NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER,
  upstream_session_id TEXT REFERENCES upstream_sessions (id) ON DELETE CASCADE
) STRICT;
INSERT INTO numbered_grants (id, account_id, client_id, payload, expires_at, used_at, upstream_session_id)
  SELECT id, account_id, client_id, payload, expires_at, used_at, upstream_session_id FROM grants ORDER BY id;

CREATE TABLE artifacts_of_numbers (
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  grant_number INTEGER REFERENCES numbered_grants (number) ON DELETE CASCADE,
  account_id TEXT REFERENCES accounts (id) ON DELETE CASCADE,
  upstream_session_id TEXT REFERENCES upstream_sessions (id) ON DELETE CASCADE,
  client_id TEXT,
  uid TEXT,
  payload BLOB NOT NULL,
  revision INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0,
  consumed_at INTEGER,
  expires_at INTEGER NOT NULL,
  successors_at_ms INTEGER,
  UNIQUE (id, kind)
) STRICT;
INSERT INTO artifacts_of_numbers (id, kind, grant_number, account_id, upstream_session_id, client_id, uid, payload, revision,
    failures, consumed_at, expires_at, successors_at_ms)
  SELECT artifacts.id, kind, number, artifacts.account_id, artifacts.upstream_session_id, artifacts.client_id, uid,
    artifacts.payload, revision, failures, consumed_at, artifacts.expires_at, successors_at_ms
    FROM artifacts LEFT JOIN numbered_grants ON numbered_grants.id = grant_id
    WHERE grant_id IS NULL OR number IS NOT NULL
    ORDER BY artifacts.rowid;

-- What hangs on grants first: with it they would take it along.
DROP TABLE artifacts;
DROP TABLE grants;
ALTER TABLE numbered_grants RENAME TO grants;
ALTER TABLE artifacts_of_numbers RENAME TO artifacts;

CREATE INDEX grants_account ON grants (account_id);
CREATE INDEX grants_client ON grants (client_id);
CREATE INDEX grants_expiry ON grants (expires_at);
CREATE INDEX grants_upstream_session ON grants (upstream_session_id) WHERE upstream_session_id IS NOT NULL;
CREATE INDEX artifacts_grant ON artifacts (grant_number) WHERE grant_number IS NOT NULL;
CREATE INDEX artifacts_account ON artifacts (account_id) WHERE account_id IS NOT NULL;
CREATE INDEX artifacts_client ON artifacts (client_id) WHERE client_id IS NOT NULL;
CREATE INDEX artifacts_uid ON artifacts (kind, uid) WHERE uid IS NOT NULL;
CREATE INDEX artifacts_expiry ON artifacts (expires_at);
CREATE INDEX artifacts_upstream_session ON artifacts (upstream_session_id) WHERE upstream_session_id IS NOT NULL;

CREATE TRIGGER grant_lets_go_of_its_upstream AFTER DELETE ON grants WHEN old.upstream_session_id IS NOT NULL BEGIN
  INSERT INTO upstream_unheld (link_id) SELECT link_id FROM upstream_sessions WHERE id = old.upstream_session_id
    ON CONFLICT (link_id) DO UPDATE SET look_at = 0;
END;
CREATE TRIGGER grant_changes_its_upstream AFTER UPDATE OF upstream_session_id ON grants
WHEN old.upstream_session_id IS NOT NULL AND old.upstream_session_id IS NOT new.upstream_session_id BEGIN
  INSERT INTO upstream_unheld (link_id) SELECT link_id FROM upstream_sessions WHERE id = old.upstream_session_id
    ON CONFLICT (link_id) DO UPDATE SET look_at = 0;
END;
