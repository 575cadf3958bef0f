-- One row: a text sealed under the keys of this installation. A key file that cannot open it is of another one.

CREATE TABLE installation (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  canary BLOB NOT NULL
) STRICT;
