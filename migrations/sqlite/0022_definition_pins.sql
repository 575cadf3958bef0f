-- Definitions of every kind are pinned: tools, prompts, resource templates and the instructions of a server. The hashes of tools
-- pinned before cover fewer members: a tool that still has such a hash gets the hash of its whole definition when it is listed next.

CREATE TABLE definition_pins (
  route TEXT NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  hash TEXT NOT NULL,
  definition TEXT,
  pinned_at INTEGER NOT NULL,
  changed_hash TEXT,
  changed_definition TEXT,
  changed_at INTEGER,
  PRIMARY KEY (route, kind, name)
) STRICT, WITHOUT ROWID;
INSERT INTO definition_pins (route, kind, name, hash, definition, pinned_at, changed_hash, changed_definition, changed_at)
  SELECT route, 'tool', tool, hash, definition, pinned_at, changed_hash, changed_definition, changed_at FROM tool_pins;
DROP TABLE tool_pins;
