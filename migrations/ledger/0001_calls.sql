-- The call ledger, in a file of its own: it grows and is dropped by its own rules, and may fail by itself.
CREATE TABLE calls (
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  account TEXT NOT NULL,
  client TEXT NOT NULL,
  grant_id TEXT,
  route TEXT NOT NULL,
  backend TEXT,
  credential TEXT,
  transport TEXT NOT NULL,
  revision TEXT,
  method TEXT NOT NULL,
  target TEXT,
  definition TEXT,
  arguments_hash TEXT,
  argument_names TEXT,
  outcome TEXT NOT NULL,
  code INTEGER,
  reason TEXT,
  ms INTEGER NOT NULL,
  bytes_in INTEGER NOT NULL,
  bytes_out INTEGER NOT NULL,
  cached INTEGER NOT NULL,
  retried INTEGER NOT NULL,
  request_id TEXT NOT NULL,
  trace_id TEXT,
  -- Sealed; its hash is in the chain.
  arguments BLOB
) STRICT;

CREATE INDEX calls_at ON calls (at);
CREATE INDEX calls_account ON calls (account, at);
CREATE INDEX calls_client ON calls (client, at);
CREATE INDEX calls_target ON calls (target, at);
CREATE INDEX calls_request ON calls (request_id);
CREATE INDEX calls_trace ON calls (trace_id) WHERE trace_id IS NOT NULL;
CREATE INDEX calls_outcome ON calls (outcome, at) WHERE outcome <> 'ok';

CREATE TABLE call_seals (
  batch INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  lost INTEGER NOT NULL,
  gap TEXT,
  digest TEXT NOT NULL,
  mac TEXT NOT NULL
) STRICT;

CREATE TABLE call_ends (
  name TEXT PRIMARY KEY,
  batch INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  mac TEXT NOT NULL,
  proof TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Processes that write, so that one that was killed is noticed.
CREATE TABLE call_writers (
  writer TEXT PRIMARY KEY,
  beat_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Positions of exports, and the process that delivers them.
CREATE TABLE call_exports (
  name TEXT PRIMARY KEY,
  writer TEXT NOT NULL,
  taken_until INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  audit INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Calls by hour, kept longer than the calls. The last bucket has no bound.
CREATE TABLE call_hours (
  hour INTEGER NOT NULL,
  route TEXT NOT NULL,
  backend TEXT NOT NULL,
  method TEXT NOT NULL,
  target TEXT NOT NULL,
  client TEXT NOT NULL,
  outcome TEXT NOT NULL,
  calls INTEGER NOT NULL,
  ms INTEGER NOT NULL,
  bytes_out INTEGER NOT NULL,
  -- Calls by milliseconds, as a JSON array of counts.
  buckets TEXT NOT NULL,
  PRIMARY KEY (hour, route, backend, method, target, client, outcome)
) STRICT, WITHOUT ROWID;
