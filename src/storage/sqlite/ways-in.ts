import type Database from 'better-sqlite3';
import { LastWayIn } from '../identities.ts';

/**
 * Creates the guard of an account's ways in without a password, for removals inside of a transaction.
 * @returns runs a removal. It throws LastWayIn, which undoes it, where the account had a passkey or an identity at one of
 *   the issuers before, and has none of them after it. Without issuers nothing is looked at.
 */
export function createWaysIn(
  db: Database.Database,
): <T>(accountId: string, issuers: readonly string[] | undefined, removal: () => T) => T {
  const find = db
    .prepare<{ accountId: string; issuers: string }, number>(
      `SELECT EXISTS (SELECT 1 FROM passkeys WHERE account_id = @accountId)
         OR EXISTS (SELECT 1 FROM identities WHERE account_id = @accountId
           AND issuer IN (SELECT value FROM json_each(@issuers)))`,
    )
    .pluck();
  return (accountId, issuers, removal) => {
    if (issuers === undefined) return removal();
    const ways = { accountId, issuers: JSON.stringify(issuers) };
    const wasOpen = find.get(ways) === 1;
    const removed = removal();
    if (wasOpen && find.get(ways) !== 1) throw new LastWayIn();
    return removed;
  };
}
