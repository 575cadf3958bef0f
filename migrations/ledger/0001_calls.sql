-- The call ledger, in a file of its own: it grows and is dropped by its own rules, and may fail by itself.

-- Texts that calls repeat, such as accounts, clients and tools: calls refer to them by id. Those that no kept call can use
-- are dropped.
CREATE TABLE call_names (
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE,
  -- Day of the last use, in days since 1970.
  used_day INTEGER NOT NULL
) STRICT;

CREATE TABLE calls (
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  account INTEGER NOT NULL,
  client INTEGER NOT NULL,
  grant_id INTEGER,
  route INTEGER NOT NULL,
  backend INTEGER,
  credential INTEGER,
  transport TEXT NOT NULL,
  revision INTEGER,
  method INTEGER NOT NULL,
  -- Id of the name of a tool, prompt or resource that was used; what callers invent is here as text.
  target ANY,
  definition INTEGER,
  arguments_hash TEXT,
  argument_names TEXT,
  outcome TEXT NOT NULL,
  code INTEGER,
  reason INTEGER,
  ms INTEGER NOT NULL,
  bytes_in INTEGER NOT NULL,
  bytes_out INTEGER NOT NULL,
  cached INTEGER NOT NULL,
  retried INTEGER NOT NULL,
  -- 16 bytes of a UUID, or another text.
  request_id ANY NOT NULL,
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
