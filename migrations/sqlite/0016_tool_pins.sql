-- How tools of MCP servers behind the gate were defined when they were first seen or last accepted, by hash; and the latest
-- definition that differs, until the operator accepts it. Definitions are JSON, kept where they are not too long to look
-- at. Times are epoch seconds.

CREATE TABLE tool_pins (
  route TEXT NOT NULL,
  tool TEXT NOT NULL,
  hash TEXT NOT NULL,
  definition TEXT,
  pinned_at INTEGER NOT NULL,
  changed_hash TEXT,
  changed_definition TEXT,
  changed_at INTEGER,
  PRIMARY KEY (route, tool)
) STRICT, WITHOUT ROWID;
