-- Nodes that serve the installation side by side, and which of them has an MCP session in memory.

CREATE TABLE nodes (
  id text COLLATE "C" PRIMARY KEY,
  address text NOT NULL,
  version text NOT NULL,
  started_at bigint NOT NULL,
  beat_at timestamptz NOT NULL
);

-- No foreign key: the row of a node that ended may go before those of its sessions are taken over.
ALTER TABLE mcp_sessions ADD COLUMN node_id text COLLATE "C";
CREATE INDEX mcp_sessions_node ON mcp_sessions (node_id) WHERE node_id IS NOT NULL;
