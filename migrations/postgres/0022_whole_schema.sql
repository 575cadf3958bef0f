-- The schema that SQLite has at the same number. There was none before it on PostgreSQL.
-- Names of secrets are hashes, payloads are sealed, times are epoch seconds. Writes of all nodes are serial (commit_order):
-- what reads before it writes needs no further locks.

-- One row, which each writing transaction updates first: its lock puts the commits of all nodes in one order.
CREATE TABLE commit_order (
  id smallint PRIMARY KEY CHECK (id = 1),
  commits bigint NOT NULL
);
INSERT INTO commit_order (id, commits) VALUES (1, 0);

-- The last commit of each connection that writes: found after a connection was lost, it says whether that commit was made.
CREATE TABLE commit_marks (
  writer text COLLATE "C" PRIMARY KEY,
  batch bigint NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Counts of all nodes for rate limits; SQLite has none, as one machine counts in memory. Keys are digests under a secret of
-- the installation. Half of each page stays free, so that most counts rewrite a row within its page and no index.
CREATE TABLE counters (
  key text COLLATE "C" PRIMARY KEY,
  points bigint NOT NULL,
  ends_at timestamptz NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX counters_by_end ON counters (ends_at);

-- How often rows of a table, or artifacts of a kind, were removed or rewritten: what nodes keep in memory of them is void then.
-- Of some tables also how often rows were added (see the triggers).
CREATE TABLE change_marks (
  name text COLLATE "C" PRIMARY KEY,
  changes bigint NOT NULL
);

CREATE FUNCTION mark_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO change_marks (name, changes) SELECT TG_TABLE_NAME, 1 WHERE EXISTS (SELECT FROM gone)
    ON CONFLICT (name) DO UPDATE SET changes = change_marks.changes + 1;
  RETURN NULL;
END $$;
CREATE FUNCTION mark_changed_artifacts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO change_marks (name, changes) SELECT DISTINCT 'artifacts/' || kind, 1 FROM gone
    ON CONFLICT (name) DO UPDATE SET changes = change_marks.changes + 1;
  RETURN NULL;
END $$;
CREATE FUNCTION mark_row(name text) RETURNS void LANGUAGE sql AS $$
  INSERT INTO change_marks (name, changes) VALUES ($1, 1)
    ON CONFLICT (name) DO UPDATE SET changes = change_marks.changes + 1
$$;
CREATE FUNCTION mark_rewritten_artifact() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM mark_row('artifacts/' || new.kind);
  RETURN NULL;
END $$;
CREATE FUNCTION mark_row_of_table() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM mark_row(TG_TABLE_NAME);
  RETURN NULL;
END $$;

CREATE TABLE installation (
  id smallint PRIMARY KEY CHECK (id = 1),
  canary bytea NOT NULL,
  probes bigint NOT NULL DEFAULT 0
);

-- The keys of the installation, as a key file has them, sealed under the master key.
CREATE TABLE key_schedule (
  id smallint PRIMARY KEY CHECK (id = 1),
  sealed bytea NOT NULL
);

CREATE TABLE accounts (
  id text COLLATE "C" PRIMARY KEY,
  email text COLLATE "C" NOT NULL UNIQUE,
  password_hash text NOT NULL,
  created_at bigint NOT NULL,
  disabled_at bigint
);

CREATE TABLE passkeys (
  id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  name text NOT NULL,
  public_key bytea NOT NULL,
  counter bigint NOT NULL,
  is_synced boolean NOT NULL,
  transports text NOT NULL,
  created_at bigint NOT NULL,
  used_at bigint
);
CREATE INDEX passkeys_account ON passkeys (account_id, created_at);

CREATE TABLE one_time_codes (
  account_id text COLLATE "C" PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
  secret bytea NOT NULL,
  last_step bigint NOT NULL,
  created_at bigint NOT NULL
);

CREATE TABLE recovery_codes (
  account_id text COLLATE "C" NOT NULL REFERENCES one_time_codes (account_id) ON DELETE CASCADE,
  id text COLLATE "C" NOT NULL,
  PRIMARY KEY (account_id, id)
);

CREATE TABLE identities (
  issuer text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  created_at bigint NOT NULL,
  PRIMARY KEY (issuer, subject),
  UNIQUE (account_id, issuer)
);

CREATE TABLE clients (
  id text COLLATE "C" PRIMARY KEY,
  payload bytea NOT NULL,
  created_at bigint NOT NULL,
  used_at bigint,
  origin text NOT NULL DEFAULT 'registered' CHECK (origin IN ('registered', 'operator', 'settings')),
  status text NOT NULL DEFAULT 'approved' CHECK (status IN ('approved', 'pending', 'denied', 'removed')),
  decided_at bigint,
  token_hash text COLLATE "C"
);
CREATE INDEX clients_unused ON clients (created_at) WHERE used_at IS NULL;
CREATE INDEX clients_use ON clients (used_at) WHERE used_at IS NOT NULL;
CREATE INDEX clients_of_operator ON clients (origin) WHERE origin <> 'registered';
CREATE UNIQUE INDEX clients_token ON clients (token_hash) WHERE token_hash IS NOT NULL;

-- One row: registrations that surely fit under this limit of unused clients, of any node, before they are counted again.
CREATE TABLE unused_client_room (
  id smallint PRIMARY KEY CHECK (id = 1),
  max_unused bigint NOT NULL,
  room bigint NOT NULL
);
INSERT INTO unused_client_room (id, max_unused, room) VALUES (1, 0, 0);

CREATE TABLE client_documents (
  url text COLLATE "C" PRIMARY KEY,
  payload bytea NOT NULL,
  fetched_at bigint NOT NULL,
  fresh_until bigint NOT NULL
);
CREATE INDEX client_documents_age ON client_documents (fetched_at);

CREATE TABLE invitations (
  id text COLLATE "C" PRIMARY KEY,
  uses_left bigint NOT NULL CHECK (uses_left >= 0),
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL
);
CREATE INDEX invitations_expiry ON invitations (expires_at);

-- One account at one upstream. Each set of tokens is a generation.
CREATE TABLE upstream_links (
  id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  upstream text COLLATE "C" NOT NULL,
  issuer text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  profile bytea NOT NULL,
  tokens bytea,
  generation bigint NOT NULL DEFAULT 1,
  expires_at bigint,
  proved_at bigint NOT NULL,
  unreachable_since bigint,
  is_kept boolean NOT NULL DEFAULT false,
  wanted_scopes text NOT NULL DEFAULT '',
  leased_until bigint,
  linked_at bigint NOT NULL,
  UNIQUE (account_id, upstream),
  UNIQUE (upstream, issuer, subject)
);

CREATE TABLE upstream_sessions (
  id text COLLATE "C" PRIMARY KEY,
  link_id text COLLATE "C" NOT NULL REFERENCES upstream_links (id) ON DELETE CASCADE,
  sid text COLLATE "C",
  at bigint NOT NULL
);
CREATE INDEX upstream_sessions_link ON upstream_sessions (link_id);
CREATE INDEX upstream_sessions_age ON upstream_sessions (at);

-- Links to look at, whether anything still hangs on them, and from when on.
CREATE TABLE upstream_unheld (
  link_id text COLLATE "C" PRIMARY KEY,
  look_at bigint NOT NULL DEFAULT 0
);
CREATE INDEX upstream_unheld_time ON upstream_unheld (look_at);

-- Sets of tokens that are to be revoked at their upstream, oldest first. They outlive link and account.
CREATE TABLE upstream_revocations (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  upstream text COLLATE "C" NOT NULL,
  link_id text COLLATE "C" NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  tokens bytea NOT NULL,
  attempts bigint NOT NULL DEFAULT 0,
  first_tried_at bigint,
  next_at bigint NOT NULL DEFAULT 0
);
CREATE INDEX upstream_revocations_time ON upstream_revocations (next_at, id);

-- The consent record. What hangs on it dies with it. Numbers are never given twice.
CREATE TABLE grants (
  number bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  client_id text COLLATE "C" NOT NULL,
  payload bytea NOT NULL,
  expires_at bigint NOT NULL,
  used_at bigint,
  upstream_session_id text COLLATE "C" REFERENCES upstream_sessions (id) ON DELETE CASCADE
);
CREATE INDEX grants_account ON grants (account_id, client_id, number);
CREATE INDEX grants_client ON grants (client_id);
CREATE INDEX grants_expiry ON grants (expires_at);
CREATE INDEX grants_upstream_session ON grants (upstream_session_id) WHERE upstream_session_id IS NOT NULL;

-- Codes, tokens, sessions, interactions: one row each.
CREATE TABLE artifacts (
  id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  grant_number bigint REFERENCES grants (number) ON DELETE CASCADE,
  account_id text COLLATE "C" REFERENCES accounts (id) ON DELETE CASCADE,
  upstream_session_id text COLLATE "C" REFERENCES upstream_sessions (id) ON DELETE CASCADE,
  client_id text COLLATE "C",
  uid text COLLATE "C",
  payload bytea NOT NULL,
  revision bigint NOT NULL DEFAULT 0,
  failures bigint NOT NULL DEFAULT 0,
  consumed_at bigint,
  used_from text,
  expires_at bigint NOT NULL,
  successors_at_ms bigint,
  PRIMARY KEY (id, kind)
);
CREATE INDEX artifacts_grant ON artifacts (grant_number) WHERE grant_number IS NOT NULL;
CREATE INDEX artifacts_account ON artifacts (account_id) WHERE account_id IS NOT NULL;
CREATE INDEX artifacts_client ON artifacts (client_id) WHERE client_id IS NOT NULL;
CREATE INDEX artifacts_uid ON artifacts (kind, uid) WHERE uid IS NOT NULL;
CREATE INDEX artifacts_expiry ON artifacts (expires_at);
CREATE INDEX artifacts_upstream_session ON artifacts (upstream_session_id) WHERE upstream_session_id IS NOT NULL;

-- Events that an operator may have to account for, each hashed with the row before it under a key that is not here.
CREATE TABLE audit (
  seq bigint PRIMARY KEY,
  at bigint NOT NULL,
  event text COLLATE "C" NOT NULL,
  details text NOT NULL,
  previous text NOT NULL,
  hash text NOT NULL
);
CREATE TABLE audit_ends (
  name text COLLATE "C" PRIMARY KEY CHECK (name IN ('start', 'head')),
  seq bigint NOT NULL,
  hash text NOT NULL,
  mac text NOT NULL
);

CREATE TABLE notes (
  id text COLLATE "C" PRIMARY KEY,
  subject text COLLATE "C" NOT NULL,
  text text NOT NULL,
  created_at bigint NOT NULL
);
CREATE INDEX notes_subject ON notes (subject, created_at);

-- MCP sessions, their streams, and the events of the streams that a client may still ask for.
CREATE TABLE mcp_sessions (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  key text COLLATE "C" NOT NULL UNIQUE,
  principal text COLLATE "C" NOT NULL,
  initialize text NOT NULL,
  protocol_version text NOT NULL,
  is_initialized boolean NOT NULL,
  log_level text,
  subscriptions text NOT NULL,
  created_at bigint NOT NULL,
  used_at bigint NOT NULL,
  grant_hash text COLLATE "C"
);
CREATE INDEX mcp_sessions_principal ON mcp_sessions (principal);
CREATE INDEX mcp_sessions_use ON mcp_sessions (used_at, id);

CREATE TABLE mcp_session_counts (
  principal text COLLATE "C" PRIMARY KEY,
  sessions bigint NOT NULL
);
CREATE TABLE mcp_session_total (
  id smallint PRIMARY KEY CHECK (id = 1),
  sessions bigint NOT NULL
);
INSERT INTO mcp_session_total (id, sessions) VALUES (1, 0);

CREATE TABLE mcp_streams (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  session_id bigint NOT NULL REFERENCES mcp_sessions (id) ON DELETE CASCADE,
  name text COLLATE "C" NOT NULL,
  owed text NOT NULL,
  -- A stream that never owed anything is the session's own and stays as long as the session.
  lasts boolean NOT NULL DEFAULT false,
  created_at bigint NOT NULL,
  UNIQUE (session_id, name)
);
CREATE INDEX mcp_streams_age ON mcp_streams (created_at, id);

-- Ids grow in the order of arrival: the smallest of a session is its oldest event. The session is that of the stream.
CREATE TABLE mcp_events (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  stream_id bigint NOT NULL REFERENCES mcp_streams (id) ON DELETE CASCADE,
  session_id bigint NOT NULL,
  position bigint NOT NULL,
  answers text,
  created_at bigint NOT NULL,
  data text NOT NULL,
  UNIQUE (stream_id, position)
);
CREATE INDEX mcp_events_session ON mcp_events (session_id, id);
CREATE INDEX mcp_events_age ON mcp_events (created_at);

CREATE TABLE mcp_event_totals (
  session_id bigint PRIMARY KEY REFERENCES mcp_sessions (id) ON DELETE CASCADE,
  events bigint NOT NULL,
  bytes bigint NOT NULL
);

CREATE TABLE backend_credentials (
  account_id text COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  route text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  value bytea NOT NULL,
  entered_at bigint NOT NULL,
  PRIMARY KEY (account_id, route, name)
);

-- Changed or removed credentials, in order: what was made with the old ones ends in every process. Swept. Their ids are
-- counted by a row of change_marks and not by a sequence, which would show numbers that are not committed yet.
CREATE TABLE backend_credential_changes (
  id bigint PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL,
  route text COLLATE "C" NOT NULL,
  at bigint NOT NULL DEFAULT extract(epoch FROM clock_timestamp())::bigint
);
CREATE INDEX backend_credential_changes_time ON backend_credential_changes (at);

CREATE TABLE backend_objects (
  key text COLLATE "C" PRIMARY KEY,
  route text COLLATE "C" NOT NULL,
  principal text COLLATE "C" NOT NULL,
  client_id text COLLATE "C" NOT NULL,
  grant_number bigint REFERENCES grants (number) ON DELETE CASCADE,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL
);
CREATE INDEX backend_objects_principal ON backend_objects (principal, route);
CREATE INDEX backend_objects_grant ON backend_objects (grant_number) WHERE grant_number IS NOT NULL;
CREATE INDEX backend_objects_client ON backend_objects (client_id) WHERE grant_number IS NULL;
CREATE INDEX backend_objects_expiry ON backend_objects (expires_at);

CREATE TABLE definition_pins (
  route text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  hash text NOT NULL,
  definition text,
  pinned_at bigint NOT NULL,
  changed_hash text,
  changed_definition text,
  changed_at bigint,
  PRIMARY KEY (route, kind, name)
);

-- Marks of what nodes keep in memory.
CREATE TRIGGER mark_changed_keys AFTER UPDATE ON key_schedule
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION mark_change();
CREATE TRIGGER mark_removed_accounts AFTER DELETE ON accounts
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION mark_change();
CREATE TRIGGER mark_changed_accounts AFTER UPDATE ON accounts
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION mark_change();
CREATE TRIGGER mark_removed_clients AFTER DELETE ON clients
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION mark_change();
CREATE TRIGGER mark_changed_clients AFTER UPDATE ON clients
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION mark_change();
CREATE TRIGGER mark_removed_grants AFTER DELETE ON grants
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION mark_change();
CREATE TRIGGER mark_removed_objects AFTER DELETE ON backend_objects
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION mark_change();
CREATE TRIGGER mark_removed_sessions AFTER DELETE ON mcp_sessions
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION mark_change();
CREATE TRIGGER mark_removed_artifacts AFTER DELETE ON artifacts
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION mark_changed_artifacts();
-- By row, as a trigger on columns sees no set of rows: most updates are uses, which are no change of these.
CREATE TRIGGER mark_rewritten_artifacts AFTER UPDATE OF payload ON artifacts
  FOR EACH ROW EXECUTE FUNCTION mark_rewritten_artifact();
CREATE TRIGGER mark_rewritten_grants AFTER UPDATE OF payload, expires_at ON grants
  FOR EACH ROW EXECUTE FUNCTION mark_row_of_table();
-- The first one is the change: most installations have no upstream, and their requests need not ask for a session there.
CREATE TRIGGER mark_added_upstream_sessions AFTER INSERT ON upstream_sessions
  FOR EACH ROW EXECUTE FUNCTION mark_row_of_table();

-- A subject takes its notes along, and a note needs its subject.
CREATE FUNCTION remove_notes_of_subject() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM notes WHERE subject = old.id;
  RETURN NULL;
END $$;
CREATE TRIGGER account_takes_its_notes AFTER DELETE ON accounts
  FOR EACH ROW EXECUTE FUNCTION remove_notes_of_subject();
CREATE TRIGGER client_takes_its_notes AFTER DELETE ON clients
  FOR EACH ROW EXECUTE FUNCTION remove_notes_of_subject();
CREATE FUNCTION require_subject_of_note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM accounts WHERE id = new.subject) AND NOT EXISTS (SELECT FROM clients WHERE id = new.subject) THEN
    RAISE EXCEPTION 'the subject of the note is gone';
  END IF;
  RETURN new;
END $$;
CREATE TRIGGER note_needs_its_subject BEFORE INSERT ON notes
  FOR EACH ROW EXECUTE FUNCTION require_subject_of_note();

-- Bonds to logins at upstreams.
CREATE FUNCTION look_at_link_of_grant() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO upstream_unheld (link_id) SELECT link_id FROM upstream_sessions WHERE id = old.upstream_session_id
    ON CONFLICT (link_id) DO UPDATE SET look_at = 0;
  RETURN NULL;
END $$;
CREATE TRIGGER grant_lets_go_of_its_upstream AFTER DELETE ON grants
  FOR EACH ROW WHEN (old.upstream_session_id IS NOT NULL) EXECUTE FUNCTION look_at_link_of_grant();
CREATE TRIGGER grant_changes_its_upstream AFTER UPDATE OF upstream_session_id ON grants
  FOR EACH ROW WHEN (old.upstream_session_id IS NOT NULL AND old.upstream_session_id IS DISTINCT FROM new.upstream_session_id)
  EXECUTE FUNCTION look_at_link_of_grant();
CREATE FUNCTION look_at_link_of_session() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO upstream_unheld (link_id) VALUES (old.link_id) ON CONFLICT (link_id) DO UPDATE SET look_at = 0;
  RETURN NULL;
END $$;
CREATE TRIGGER upstream_session_ended AFTER DELETE ON upstream_sessions
  FOR EACH ROW EXECUTE FUNCTION look_at_link_of_session();

-- The tokens of a removed link are revoked, whoever removes it.
CREATE FUNCTION revoke_tokens_of_link() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO upstream_revocations (upstream, link_id, account_id, tokens)
    VALUES (old.upstream, old.id, old.account_id, old.tokens);
  RETURN NULL;
END $$;
CREATE TRIGGER upstream_link_leaves_its_tokens AFTER DELETE ON upstream_links
  FOR EACH ROW WHEN (old.tokens IS NOT NULL) EXECUTE FUNCTION revoke_tokens_of_link();

CREATE FUNCTION note_credential_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  changed backend_credentials := coalesce(new, old);
BEGIN
  PERFORM mark_row('backend_credential_changes');
  INSERT INTO backend_credential_changes (id, account_id, route)
    SELECT changes, changed.account_id, changed.route FROM change_marks WHERE name = 'backend_credential_changes';
  RETURN NULL;
END $$;
CREATE TRIGGER backend_credential_entered AFTER INSERT ON backend_credentials
  FOR EACH ROW EXECUTE FUNCTION note_credential_change();
-- Not of the value alone, which is also sealed anew under another key.
CREATE TRIGGER backend_credential_replaced AFTER UPDATE OF entered_at ON backend_credentials
  FOR EACH ROW EXECUTE FUNCTION note_credential_change();
CREATE TRIGGER backend_credential_removed AFTER DELETE ON backend_credentials
  FOR EACH ROW EXECUTE FUNCTION note_credential_change();

-- Counts of sessions and events, so that a bound costs no count.
CREATE FUNCTION count_opened_session() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO mcp_session_counts (principal, sessions) VALUES (new.principal, 1)
    ON CONFLICT (principal) DO UPDATE SET sessions = mcp_session_counts.sessions + 1;
  UPDATE mcp_session_total SET sessions = sessions + 1;
  RETURN NULL;
END $$;
CREATE TRIGGER mcp_session_opened AFTER INSERT ON mcp_sessions FOR EACH ROW EXECUTE FUNCTION count_opened_session();
CREATE FUNCTION count_ended_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE mcp_session_counts AS counts SET sessions = counts.sessions - ended.sessions
    FROM (SELECT principal, count(*) AS sessions FROM gone GROUP BY principal) AS ended
    WHERE counts.principal = ended.principal;
  DELETE FROM mcp_session_counts WHERE sessions = 0 AND principal IN (SELECT principal FROM gone);
  UPDATE mcp_session_total SET sessions = sessions - (SELECT count(*) FROM gone) WHERE EXISTS (SELECT FROM gone);
  RETURN NULL;
END $$;
CREATE TRIGGER mcp_sessions_ended AFTER DELETE ON mcp_sessions
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION count_ended_sessions();
CREATE FUNCTION count_kept_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO mcp_event_totals (session_id, events, bytes)
    SELECT session_id, count(*), sum(octet_length(data)) FROM kept GROUP BY session_id
    ON CONFLICT (session_id) DO UPDATE
    SET events = mcp_event_totals.events + excluded.events, bytes = mcp_event_totals.bytes + excluded.bytes;
  RETURN NULL;
END $$;
CREATE TRIGGER mcp_events_kept AFTER INSERT ON mcp_events
  REFERENCING NEW TABLE AS kept FOR EACH STATEMENT EXECUTE FUNCTION count_kept_events();
CREATE FUNCTION count_dropped_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE mcp_event_totals AS totals SET events = totals.events - dropped.events, bytes = totals.bytes - dropped.bytes
    FROM (SELECT session_id, count(*) AS events, sum(octet_length(data)) AS bytes FROM gone GROUP BY session_id) AS dropped
    WHERE totals.session_id = dropped.session_id;
  RETURN NULL;
END $$;
CREATE TRIGGER mcp_events_dropped AFTER DELETE ON mcp_events
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION count_dropped_events();
