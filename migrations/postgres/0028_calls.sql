-- The call ledger: who called what. All nodes append to one chain, and lock its end meanwhile.
-- min_reader: 27
CREATE TABLE calls (
  seq bigint PRIMARY KEY,
  at bigint NOT NULL,
  code bigint,
  ms bigint NOT NULL,
  bytes_in bigint NOT NULL,
  bytes_out bigint NOT NULL,
  cached boolean NOT NULL,
  retried boolean NOT NULL,
  account text COLLATE "C" NOT NULL,
  client text COLLATE "C" NOT NULL,
  grant_id text COLLATE "C",
  route text COLLATE "C" NOT NULL,
  backend text COLLATE "C",
  credential text COLLATE "C",
  transport text COLLATE "C" NOT NULL,
  revision text COLLATE "C",
  method text COLLATE "C" NOT NULL,
  target text COLLATE "C",
  definition text COLLATE "C",
  arguments_hash text COLLATE "C",
  argument_names text COLLATE "C",
  outcome text COLLATE "C" NOT NULL,
  reason text COLLATE "C",
  request_id text COLLATE "C" NOT NULL,
  trace_id text COLLATE "C",
  -- Sealed; its hash is in the chain.
  arguments bytea
);

CREATE INDEX calls_at ON calls (at, seq);
CREATE INDEX calls_account ON calls (account, at, seq);
CREATE INDEX calls_client ON calls (client, at, seq);
CREATE INDEX calls_target ON calls (target, at, seq);
CREATE INDEX calls_request ON calls (request_id);
CREATE INDEX calls_trace ON calls (trace_id) WHERE trace_id IS NOT NULL;
CREATE INDEX calls_outcome ON calls (outcome, at, seq) WHERE outcome <> 'ok';

CREATE TABLE call_seals (
  batch bigint PRIMARY KEY,
  at bigint NOT NULL,
  last_seq bigint NOT NULL,
  calls bigint NOT NULL,
  lost bigint NOT NULL,
  gap text COLLATE "C",
  digest text COLLATE "C" NOT NULL,
  mac text COLLATE "C" NOT NULL
);

-- Batch 0 is none: both rows exist from the start, so that they can be locked.
CREATE TABLE call_ends (
  name text COLLATE "C" PRIMARY KEY,
  batch bigint NOT NULL,
  last_seq bigint NOT NULL,
  mac text COLLATE "C" NOT NULL,
  proof text COLLATE "C" NOT NULL
);
INSERT INTO call_ends VALUES ('start', 0, 0, '', ''), ('head', 0, 0, '', '');

-- Processes that write, so that one that was killed is noticed.
CREATE TABLE call_writers (
  writer text COLLATE "C" PRIMARY KEY,
  beat_at bigint NOT NULL
);

-- Positions of exports, and the process that delivers them.
CREATE TABLE call_exports (
  name text COLLATE "C" PRIMARY KEY,
  writer text COLLATE "C" NOT NULL,
  taken_until bigint NOT NULL,
  calls bigint NOT NULL,
  audit bigint NOT NULL
);

-- Calls by hour, kept longer than the calls. The last bucket has no bound.
CREATE TABLE call_hours (
  hour bigint NOT NULL,
  route text COLLATE "C" NOT NULL,
  backend text COLLATE "C" NOT NULL,
  method text COLLATE "C" NOT NULL,
  target text COLLATE "C" NOT NULL,
  client text COLLATE "C" NOT NULL,
  outcome text COLLATE "C" NOT NULL,
  calls bigint NOT NULL,
  ms bigint NOT NULL,
  bytes_out bigint NOT NULL,
  -- Calls by milliseconds.
  buckets integer[] NOT NULL,
  PRIMARY KEY (hour, route, backend, method, target, client, outcome)
);
