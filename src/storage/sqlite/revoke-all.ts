import type Database from 'better-sqlite3';

/**
 * Ends everything that was issued: consents with their tokens, codes, browser logins, pages that are open, MCP
 * sessions, invitations to register, logins at upstreams. Accounts, clients and notes stay.
 *
 * For a database that was put back from a backup: a code or refresh token that was used up, an invitation that
 * was used up, a consent that was withdrawn and a login that was ended since would be alive in it again (T-173). Tokens
 * of upstreams are forgotten, not revoked: to put a backup back elsewhere must not end what is in use.
 */
export function revokeAll(db: Database.Database): void {
  db.transaction(() => {
    db.exec(
      `DELETE FROM artifacts; DELETE FROM grants; DELETE FROM mcp_sessions; DELETE FROM backend_objects;
       DELETE FROM invitations;
       UPDATE upstream_links SET tokens = NULL, generation = generation + 1, expires_at = NULL, unreachable_since = NULL,
         leased_until = NULL;
       DELETE FROM upstream_sessions; DELETE FROM upstream_links WHERE is_kept = 0;
       DELETE FROM upstream_unheld; DELETE FROM upstream_revocations;`,
    );
  }).immediate();
}
