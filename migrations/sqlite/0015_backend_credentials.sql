-- What people entered for MCP servers behind the gate, such as a key of theirs at a third party: each value by the route
-- it is for and its name there. Values are sealed. Times are epoch seconds.

CREATE TABLE backend_credentials (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  route TEXT NOT NULL,
  name TEXT NOT NULL,
  value BLOB NOT NULL,
  entered_at INTEGER NOT NULL,
  PRIMARY KEY (account_id, route, name)
) STRICT, WITHOUT ROWID;

-- Whose changed or went, in order, whoever did it: what was made with the old ones ends in every process. Swept.
CREATE TABLE backend_credential_changes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id TEXT NOT NULL,
  route TEXT NOT NULL,
  at INTEGER NOT NULL DEFAULT (unixepoch())
) STRICT;
CREATE INDEX backend_credential_changes_time ON backend_credential_changes (at);

CREATE TRIGGER backend_credential_entered AFTER INSERT ON backend_credentials BEGIN
  INSERT INTO backend_credential_changes (account_id, route) VALUES (new.account_id, new.route);
END;
-- Not of the value alone, which is also sealed anew under another key.
CREATE TRIGGER backend_credential_replaced AFTER UPDATE OF entered_at ON backend_credentials BEGIN
  INSERT INTO backend_credential_changes (account_id, route) VALUES (new.account_id, new.route);
END;
CREATE TRIGGER backend_credential_removed AFTER DELETE ON backend_credentials BEGIN
  INSERT INTO backend_credential_changes (account_id, route) VALUES (old.account_id, old.route);
END;
