-- Messages of processes to the others, in the order of their commits. Swept.
CREATE TABLE node_messages (
  position INTEGER PRIMARY KEY,
  node_id TEXT NOT NULL,
  payload BLOB NOT NULL,
  posted_at_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE node_message_ends (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  last_position INTEGER NOT NULL,
  removed_position INTEGER NOT NULL
) STRICT;
INSERT INTO node_message_ends VALUES (1, 0, 0);

CREATE TRIGGER node_message_removed AFTER DELETE ON node_messages
BEGIN
  UPDATE node_message_ends SET removed_position = max(removed_position, old.position);
END;

-- Keyed digest of the settings that a process runs with, and if it refused its config file since.
ALTER TABLE nodes ADD COLUMN settings_hash TEXT NOT NULL DEFAULT '';
ALTER TABLE nodes ADD COLUMN refuses_file INTEGER NOT NULL DEFAULT 0;
