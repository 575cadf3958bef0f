-- When a client was last used: at a grant, at a code or refresh token redeemed. NULL until the first grant.
-- Clients of before count as used now: whether they were is not known.

ALTER TABLE clients ADD COLUMN used_at INTEGER;
UPDATE clients SET used_at = unixepoch();
CREATE INDEX clients_unused ON clients (created_at) WHERE used_at IS NULL;
CREATE INDEX clients_use ON clients (used_at) WHERE used_at IS NOT NULL;
