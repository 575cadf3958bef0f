-- Each ledger has an id: positions of calls begin again in a new file, and receivers of exports tell them apart by it.
CREATE TABLE call_ledger (
  id TEXT PRIMARY KEY,
  -- Counts reads whose calls leave the ledger: such a commit waits for the disk, with all before it.
  reads INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
INSERT INTO call_ledger (id) VALUES (lower(hex(randomblob(8))));

-- The positions of exports are in the main database: they survive this file.
DROP TABLE call_exports;
