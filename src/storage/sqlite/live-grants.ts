import type Database from 'better-sqlite3';
import {
  type ArtifactStore,
  accessTokenKeptSeconds,
  type GrantRow,
  keptAfterUseSeconds,
} from '../artifacts.ts';

interface Row extends Omit<GrantRow, 'usedAt'> {
  usedAt: number | null;
}

/** What SQLite takes for no limit. */
const all = -1;

/** Creates the list of the grants of an account to one client under which something can still be used. */
export function createLiveGrantList(db: Database.Database): ArtifactStore['listLiveGrants'] {
  // Numbers go up with time, but among grants from before there were numbers, and the entries of an account in its index are
  // in their order: nothing is sorted, and reading ends with the last that is asked for. The index of clients would go
  // through the grants of everybody.
  const list = db.prepare<{ accountId: string; clientId: string; at: number; limit: number }, Row>(
    `SELECT id, client_id AS clientId, payload, used_at AS usedAt, expires_at AS expiresAt
     FROM grants INDEXED BY grants_account
     WHERE account_id = @accountId AND client_id = @clientId AND expires_at > @at AND EXISTS (SELECT 1 FROM artifacts
       WHERE grant_number = grants.number AND consumed_at IS NULL
         AND artifacts.expires_at - CASE kind WHEN 'AuthorizationCode' THEN ${keptAfterUseSeconds}
           WHEN 'AccessToken' THEN ${accessTokenKeptSeconds} ELSE 0 END > @at)
     ORDER BY number DESC LIMIT @limit`,
  );
  return async (accountId, clientId, at, limit = all) =>
    list
      .all({ accountId, clientId, at, limit })
      .map(({ usedAt, ...row }) => (usedAt === null ? row : { ...row, usedAt }));
}
