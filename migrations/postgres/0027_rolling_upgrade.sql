-- Nodes of two schema versions side by side: the oldest schema whose programs can use the database, the schema that each node
-- knows, and the server on which the installation was last seen.

-- A writing transaction sets the schema of its program: those that the database has left behind fail.
ALTER TABLE commit_order
  ADD COLUMN schema integer NOT NULL DEFAULT 27,
  ADD COLUMN min_reader integer NOT NULL DEFAULT 27,
  ADD CONSTRAINT writer_knows_schema CHECK (schema >= min_reader);

ALTER TABLE nodes ADD COLUMN schema integer NOT NULL DEFAULT 0;

ALTER TABLE installation ADD COLUMN server text;
