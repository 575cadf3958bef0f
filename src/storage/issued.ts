/**
 * Statements that remove everything that was issued: consents with their tokens, codes, browser logins, open pages, MCP
 * sessions, invitations to register, logins at upstreams. Accounts, clients and notes stay.
 *
 * In a database that lacks acknowledged commits, such as one from a backup, a used code or refresh token, a used
 * invitation, a withdrawn consent and an ended login would be valid again (T-173). Upstream tokens are deleted without
 * revocation: a restore elsewhere must not end tokens in use.
 */
export const removeIssued: readonly string[] = [
  'DELETE FROM artifacts',
  'DELETE FROM grants',
  'DELETE FROM mcp_sessions',
  'DELETE FROM backend_objects',
  'DELETE FROM invitations',
  `UPDATE upstream_links SET tokens = NULL, generation = generation + 1, expires_at = NULL, unreachable_since = NULL,
     leased_until = NULL`,
  'DELETE FROM upstream_sessions',
  'DELETE FROM upstream_links WHERE NOT is_kept',
  'DELETE FROM upstream_unheld',
  'DELETE FROM upstream_revocations',
];
