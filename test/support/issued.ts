import { join } from 'node:path';
import Database from 'better-sqlite3';

/** How much of what matters an installation has handed out, counted in its database. */
export interface Issued {
  clients: number;
  grants: number;
  codes: number;
  accessTokens: number;
  refreshTokens: number;
}

/** Counts what a gatehouse has issued. @param folder its data folder */
export function countIssued(folder: string): Issued {
  const database = new Database(join(folder, 'gatehouse.db'), { readonly: true });
  try {
    const count = (query: string): number => Number(database.prepare(query).pluck().get());
    const artifacts = (kind: string): number =>
      count(`SELECT count(*) FROM artifacts WHERE kind = '${kind}' AND consumed_at IS NULL`);
    return {
      clients: count('SELECT count(*) FROM clients'),
      grants: count('SELECT count(*) FROM grants'),
      codes: artifacts('AuthorizationCode'),
      accessTokens: artifacts('AccessToken'),
      refreshTokens: artifacts('RefreshToken'),
    };
  } finally {
    database.close();
  }
}
