import { queryDatabase } from '../../support/test-storage.ts';

/** What a client has of logins, counted in the database of an installation. */
export interface Families {
  grants: number;
  /** Refresh tokens that were not used yet: the heads of its token families. */
  heads: number;
}

/** Counts the token families of a client, `$1`. */
export const familiesSql = `SELECT (SELECT count(*) FROM grants WHERE client_id = $1) AS "grants",
  (SELECT count(*) FROM artifacts JOIN grants ON grants.number = artifacts.grant_number
   WHERE grants.client_id = $1 AND artifacts.kind = 'RefreshToken' AND artifacts.consumed_at IS NULL) AS "heads"`;

/** Counts the token families of a client. @param folder data folder of the installation */
export async function countFamilies(folder: string, clientId: string): Promise<Families> {
  const [families] = await queryDatabase<Families>(folder, familiesSql, [clientId]);
  if (!families) throw new Error('nothing was counted');
  return families;
}
