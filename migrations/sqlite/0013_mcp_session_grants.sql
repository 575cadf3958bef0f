-- By which consent an MCP session is used: a hash of the name of the grant. None where a client acts for itself, and in
-- sessions from before.
ALTER TABLE mcp_sessions ADD COLUMN grant_hash TEXT;
