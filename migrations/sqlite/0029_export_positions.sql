-- Positions of exports, and the process that delivers them: of audit events, and of calls in the ledger with this id.
CREATE TABLE call_exports (
  name TEXT PRIMARY KEY,
  writer TEXT NOT NULL,
  taken_until INTEGER NOT NULL,
  ledger TEXT NOT NULL,
  calls INTEGER NOT NULL,
  audit INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
