-- Processes that serve the installation side by side, and which of them has an MCP session in memory. Times of beats are
-- epoch milliseconds.

CREATE TABLE nodes (
  id TEXT PRIMARY KEY,
  address TEXT NOT NULL,
  version TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  beat_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- No foreign key: the row of a node that ended may go before those of its sessions are taken over.
ALTER TABLE mcp_sessions ADD COLUMN node_id TEXT;
CREATE INDEX mcp_sessions_node ON mcp_sessions (node_id) WHERE node_id IS NOT NULL;
