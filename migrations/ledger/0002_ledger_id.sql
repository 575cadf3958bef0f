-- Each ledger has an id: positions of calls begin again in a new file, and receivers of exports tell them apart by it.
CREATE TABLE call_ledger (id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO call_ledger VALUES (lower(hex(randomblob(8))));

-- The positions of exports are in the main database: they survive this file.
DROP TABLE call_exports;
