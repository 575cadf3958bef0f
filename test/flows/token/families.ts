import { join } from 'node:path';
import Database from 'better-sqlite3';

/** What a client has of logins, counted in the database of an installation. */
export interface Families {
  grants: number;
  /** Refresh tokens that were not used yet: the heads of its token families. */
  heads: number;
}

/** Opens the database of an installation to count token families in it. @param folder its data folder */
export function openFamilies(folder: string): { of(clientId: string): Families; close(): void } {
  const database = new Database(join(folder, 'gatehouse.db'), { readonly: true });
  const grants = database.prepare('SELECT count(*) FROM grants WHERE client_id = ?').pluck();
  const heads = database
    .prepare(
      `SELECT count(*) FROM artifacts JOIN grants ON grants.number = artifacts.grant_number
       WHERE grants.client_id = ? AND artifacts.kind = 'RefreshToken' AND artifacts.consumed_at IS NULL`,
    )
    .pluck();
  return {
    of: (clientId) => ({ grants: Number(grants.get(clientId)), heads: Number(heads.get(clientId)) }),
    close: () => void database.close(),
  };
}
