-- Who people are at third-party authorization servers, the tokens held there for them, and what of ours hangs on their
-- logins there. Profiles and tokens are sealed. Times are epoch seconds.

-- One account at one upstream. Tokens are absent where none are held; each set of them is a generation.
CREATE TABLE upstream_links (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  upstream TEXT NOT NULL,
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  profile BLOB NOT NULL,
  tokens BLOB,
  generation INTEGER NOT NULL DEFAULT 1,
  expires_at INTEGER,
  proved_at INTEGER NOT NULL,
  unreachable_since INTEGER,
  is_kept INTEGER NOT NULL DEFAULT 0 CHECK (is_kept IN (0, 1)),
  wanted_scopes TEXT NOT NULL DEFAULT '',
  leased_until INTEGER,
  linked_at INTEGER NOT NULL,
  UNIQUE (account_id, upstream),
  UNIQUE (upstream, issuer, subject)
) STRICT, WITHOUT ROWID;

-- One login there. What hangs on it dies with it.
CREATE TABLE upstream_sessions (
  id TEXT PRIMARY KEY,
  link_id TEXT NOT NULL REFERENCES upstream_links (id) ON DELETE CASCADE,
  sid TEXT,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX upstream_sessions_link ON upstream_sessions (link_id);
CREATE INDEX upstream_sessions_age ON upstream_sessions (at);

-- The bond: a grant, and a login in a browser, that came through a login there.
ALTER TABLE grants ADD COLUMN upstream_session_id TEXT REFERENCES upstream_sessions (id) ON DELETE CASCADE;
CREATE INDEX grants_upstream_session ON grants (upstream_session_id) WHERE upstream_session_id IS NOT NULL;
ALTER TABLE artifacts ADD COLUMN upstream_session_id TEXT REFERENCES upstream_sessions (id) ON DELETE CASCADE;
CREATE INDEX artifacts_upstream_session ON artifacts (upstream_session_id) WHERE upstream_session_id IS NOT NULL;

-- Links to look at, whether anything still hangs on them, and from when on. Filled by triggers, whoever removes the last.
-- No foreign key: what is written while the link itself goes must not fail.
CREATE TABLE upstream_unheld (
  link_id TEXT PRIMARY KEY,
  look_at INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX upstream_unheld_time ON upstream_unheld (look_at);

-- Sets of tokens that are to be revoked at their upstream, oldest first. They outlive link and account.
CREATE TABLE upstream_revocations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  upstream TEXT NOT NULL,
  link_id TEXT NOT NULL,
  account_id TEXT NOT NULL,
  tokens BLOB NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  first_tried_at INTEGER,
  next_at INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX upstream_revocations_time ON upstream_revocations (next_at, id);

CREATE TRIGGER grant_lets_go_of_its_upstream AFTER DELETE ON grants WHEN old.upstream_session_id IS NOT NULL BEGIN
  INSERT INTO upstream_unheld (link_id) SELECT link_id FROM upstream_sessions WHERE id = old.upstream_session_id
    ON CONFLICT (link_id) DO UPDATE SET look_at = 0;
END;
CREATE TRIGGER grant_changes_its_upstream AFTER UPDATE OF upstream_session_id ON grants
WHEN old.upstream_session_id IS NOT NULL AND old.upstream_session_id IS NOT new.upstream_session_id BEGIN
  INSERT INTO upstream_unheld (link_id) SELECT link_id FROM upstream_sessions WHERE id = old.upstream_session_id
    ON CONFLICT (link_id) DO UPDATE SET look_at = 0;
END;
CREATE TRIGGER upstream_session_ended AFTER DELETE ON upstream_sessions BEGIN
  INSERT INTO upstream_unheld (link_id) VALUES (old.link_id) ON CONFLICT (link_id) DO UPDATE SET look_at = 0;
END;

-- Whoever removes a link, its account included, has its tokens revoked.
CREATE TRIGGER upstream_link_leaves_its_tokens AFTER DELETE ON upstream_links WHEN old.tokens IS NOT NULL BEGIN
  INSERT INTO upstream_revocations (upstream, link_id, account_id, tokens)
    VALUES (old.upstream, old.id, old.account_id, old.tokens);
END;
