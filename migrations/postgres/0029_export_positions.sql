-- The call ledger has an id, and an export knows the ledger that its position is in.
-- min_reader: 27
CREATE TABLE call_ledger (id text COLLATE "C" PRIMARY KEY);
INSERT INTO call_ledger VALUES (left(replace(gen_random_uuid()::text, '-', ''), 16));

ALTER TABLE call_exports ADD COLUMN ledger text COLLATE "C" NOT NULL DEFAULT '';
UPDATE call_exports SET ledger = (SELECT id FROM call_ledger);
