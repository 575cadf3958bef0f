-- Counts of all nodes for rate limits. Keys are digests under a secret of the installation. Half of each page stays free,
-- so that most counts rewrite a row within its page and no index.
CREATE TABLE counters (
  key text COLLATE "C" PRIMARY KEY,
  points bigint NOT NULL,
  ends_at timestamptz NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX counters_by_end ON counters (ends_at);
