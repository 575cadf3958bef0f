-- Counts the probes of readiness: only a row that changes shows whether the disk takes writes.

ALTER TABLE installation ADD COLUMN probes INTEGER NOT NULL DEFAULT 0;
