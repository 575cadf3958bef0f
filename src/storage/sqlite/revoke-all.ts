import type Database from 'better-sqlite3';

/**
 * Ends everything that was issued: consents with their tokens, codes, browser logins, pages that are open, MCP
 * sessions, invitations to register. Accounts, clients and notes stay.
 *
 * For a database that was put back from a backup: a code or refresh token that was used up, an invitation that
 * was used up, a consent that was withdrawn and a login that was ended since would be alive in it again (T-173).
 */
export function revokeAll(db: Database.Database): void {
  db.transaction(() => {
    db.exec('DELETE FROM artifacts; DELETE FROM grants; DELETE FROM mcp_sessions; DELETE FROM invitations;');
  }).immediate();
}
