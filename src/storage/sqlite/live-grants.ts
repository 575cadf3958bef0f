import type Database from 'better-sqlite3';
import { type ArtifactStore, type GrantRow, keptAfterUseSeconds } from '../artifacts.ts';

interface Row extends Omit<GrantRow, 'usedAt'> {
  usedAt: number | null;
}

/** Creates the list of the grants of an account to one client under which something can still be used. */
export function createLiveGrantList(db: Database.Database): ArtifactStore['listLiveGrants'] {
  const list = db.prepare<{ accountId: string; clientId: string; at: number }, Row>(
    `SELECT id, client_id AS clientId, payload, used_at AS usedAt, expires_at AS expiresAt FROM grants
     WHERE account_id = @accountId AND client_id = @clientId AND expires_at > @at AND EXISTS (SELECT 1 FROM artifacts
       WHERE grant_number = grants.number AND consumed_at IS NULL
         AND artifacts.expires_at - iif(kind = 'AuthorizationCode', ${keptAfterUseSeconds}, 0) > @at)
     ORDER BY expires_at DESC, id`,
  );
  return async (accountId, clientId, at) =>
    list
      .all({ accountId, clientId, at })
      .map(({ usedAt, ...row }) => (usedAt === null ? row : { ...row, usedAt }));
}
