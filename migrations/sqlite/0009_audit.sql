-- What happened that an operator may have to account for. Each row names the hash of the row before it and is hashed
-- with it, under a key that is not in the database. Times are epoch seconds.

CREATE TABLE audit (
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  event TEXT NOT NULL,
  details TEXT NOT NULL CHECK (json_valid(details)),
  previous TEXT NOT NULL,
  hash TEXT NOT NULL
) STRICT;

-- Where the log begins (the last row that was dropped for its age) and where it ends, both under the same key.
CREATE TABLE audit_ends (
  name TEXT PRIMARY KEY CHECK (name IN ('start', 'head')),
  seq INTEGER NOT NULL,
  hash TEXT NOT NULL,
  mac TEXT NOT NULL
) STRICT, WITHOUT ROWID;
