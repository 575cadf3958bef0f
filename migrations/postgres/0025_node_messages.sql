-- Messages of nodes to the others, in the order of their commits. Swept. Positions are counted by a row and not by a
-- sequence, which would show numbers that are not committed yet.
CREATE TABLE node_messages (
  position bigint PRIMARY KEY,
  node_id text COLLATE "C" NOT NULL,
  payload bytea NOT NULL,
  posted_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE node_message_ends (
  id smallint PRIMARY KEY CHECK (id = 1),
  last_position bigint NOT NULL,
  removed_position bigint NOT NULL
);
INSERT INTO node_message_ends VALUES (1, 0, 0);

CREATE TRIGGER node_message_posted AFTER INSERT ON node_messages
  FOR EACH STATEMENT EXECUTE FUNCTION mark_row_of_table();

CREATE FUNCTION note_removed_node_messages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE node_message_ends SET removed_position = greatest(removed_position, (SELECT max(position) FROM gone))
    WHERE EXISTS (SELECT FROM gone);
  RETURN NULL;
END $$;
CREATE TRIGGER node_messages_removed AFTER DELETE ON node_messages REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION note_removed_node_messages();

-- Keyed digest of the settings that a node runs with, and if it refused its config file since.
ALTER TABLE nodes ADD COLUMN settings_hash text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE nodes ADD COLUMN refuses_file boolean NOT NULL DEFAULT false;
