import { queryDatabase } from './test-storage.ts';

/** How much of what matters an installation has handed out, counted in its database. */
export interface Issued {
  clients: number;
  grants: number;
  codes: number;
  accessTokens: number;
  refreshTokens: number;
}

/** Counts what a gatehouse has issued. @param folder its data folder */
export async function countIssued(folder: string): Promise<Issued> {
  const artifacts = (kind: string): string =>
    `(SELECT count(*) FROM artifacts WHERE kind = '${kind}' AND consumed_at IS NULL)`;
  const [issued] = await queryDatabase<Issued>(
    folder,
    `SELECT (SELECT count(*) FROM clients) AS "clients", (SELECT count(*) FROM grants) AS "grants",
       ${artifacts('AuthorizationCode')} AS "codes", ${artifacts('AccessToken')} AS "accessTokens",
       ${artifacts('RefreshToken')} AS "refreshTokens"`,
  );
  if (!issued) throw new Error('nothing was counted');
  return issued;
}
