-- Objects that an MCP server behind the gate keeps by its caller, such as tasks, where several principals share one
-- credential or process there: whose each is. The key is a keyed digest of route, kind and the server's id. A row goes with
-- the grant by which the object was made, and so with the account. A client that acts for itself has no grant. Times are
-- epoch seconds.

CREATE TABLE backend_objects (
  key TEXT PRIMARY KEY,
  route TEXT NOT NULL,
  principal TEXT NOT NULL,
  client_id TEXT NOT NULL,
  grant_number INTEGER REFERENCES grants (number) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX backend_objects_principal ON backend_objects (principal, route);
CREATE INDEX backend_objects_grant ON backend_objects (grant_number) WHERE grant_number IS NOT NULL;
CREATE INDEX backend_objects_client ON backend_objects (client_id) WHERE grant_number IS NULL;
CREATE INDEX backend_objects_expiry ON backend_objects (expires_at);
