-- MCP sessions, their streams, and the events of the streams that a client may still ask for.
-- Keys are hashes of session ids. Times are epoch seconds.

CREATE TABLE mcp_sessions (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  principal TEXT NOT NULL,
  initialize TEXT NOT NULL,
  protocol_version TEXT NOT NULL,
  is_initialized INTEGER NOT NULL CHECK (is_initialized IN (0, 1)),
  log_level TEXT,
  subscriptions TEXT NOT NULL CHECK (json_valid(subscriptions)),
  created_at INTEGER NOT NULL,
  used_at INTEGER NOT NULL
) STRICT;
CREATE INDEX mcp_sessions_principal ON mcp_sessions (principal);
CREATE INDEX mcp_sessions_use ON mcp_sessions (used_at, id);

-- How many sessions there are: of each principal, and in all. Kept by triggers, so that a cap costs no count.
CREATE TABLE mcp_session_counts (
  principal TEXT PRIMARY KEY,
  sessions INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE mcp_session_total (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  sessions INTEGER NOT NULL
) STRICT;
INSERT INTO mcp_session_total (id, sessions) VALUES (1, 0);

CREATE TRIGGER mcp_session_opened AFTER INSERT ON mcp_sessions BEGIN
  INSERT INTO mcp_session_counts (principal, sessions) VALUES (new.principal, 1)
    ON CONFLICT (principal) DO UPDATE SET sessions = sessions + 1;
  UPDATE mcp_session_total SET sessions = sessions + 1;
END;
CREATE TRIGGER mcp_session_ended AFTER DELETE ON mcp_sessions BEGIN
  UPDATE mcp_session_counts SET sessions = sessions - 1 WHERE principal = old.principal;
  DELETE FROM mcp_session_counts WHERE principal = old.principal AND sessions = 0;
  UPDATE mcp_session_total SET sessions = sessions - 1;
END;

CREATE TABLE mcp_streams (
  id INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES mcp_sessions (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  owed TEXT NOT NULL CHECK (json_valid(owed)),
  -- A stream that never owed anything is the session's own and stays as long as the session.
  lasts INTEGER NOT NULL DEFAULT 0 CHECK (lasts IN (0, 1)),
  created_at INTEGER NOT NULL,
  UNIQUE (session_id, name)
) STRICT;
CREATE INDEX mcp_streams_age ON mcp_streams (created_at, id);

-- Ids grow in the order of arrival: the smallest of a session is its oldest event. The session is that of the stream.
CREATE TABLE mcp_events (
  id INTEGER PRIMARY KEY,
  stream_id INTEGER NOT NULL REFERENCES mcp_streams (id) ON DELETE CASCADE,
  session_id INTEGER NOT NULL,
  position INTEGER NOT NULL,
  answers TEXT,
  created_at INTEGER NOT NULL,
  data TEXT NOT NULL,
  UNIQUE (stream_id, position)
) STRICT;
CREATE INDEX mcp_events_session ON mcp_events (session_id, id);
CREATE INDEX mcp_events_age ON mcp_events (created_at);

-- How much each session keeps. Kept by triggers, so that a bound costs no count.
CREATE TABLE mcp_event_totals (
  session_id INTEGER PRIMARY KEY REFERENCES mcp_sessions (id) ON DELETE CASCADE,
  events INTEGER NOT NULL,
  bytes INTEGER NOT NULL
) STRICT;
CREATE TRIGGER mcp_event_kept AFTER INSERT ON mcp_events BEGIN
  INSERT INTO mcp_event_totals (session_id, events, bytes) VALUES (new.session_id, 1, octet_length(new.data))
    ON CONFLICT (session_id) DO UPDATE SET events = events + 1, bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER mcp_event_dropped AFTER DELETE ON mcp_events BEGIN
  UPDATE mcp_event_totals SET events = events - 1, bytes = bytes - octet_length(old.data)
    WHERE session_id = old.session_id;
END;
