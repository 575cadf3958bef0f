-- The call ledger has an id, and an export knows the ledger that its position is in.
-- min_reader: 27
CREATE TABLE call_ledger (
  id text COLLATE "C" PRIMARY KEY,
  -- Counts reads whose calls leave the ledger: such a commit waits for the disk, with all before it.
  reads bigint NOT NULL DEFAULT 0
);
INSERT INTO call_ledger (id) VALUES (left(replace(gen_random_uuid()::text, '-', ''), 16));

ALTER TABLE call_exports ADD COLUMN ledger text COLLATE "C" NOT NULL DEFAULT '';
UPDATE call_exports SET ledger = (SELECT id FROM call_ledger);
