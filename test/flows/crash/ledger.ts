import { join } from 'node:path';
import Database from 'better-sqlite3';
import { hashSecret } from '../../../src/crypto/secret.ts';
import type { Tokens } from '../../support/oauth.ts';

/** What the server has said for good, in all rounds so far. */
export interface Ledger {
  /** Clients whose registration was answered. */
  clients: string[];
  /** Tokens of which the client was told that they have ended. */
  ended: Tokens[];
  /** Access tokens that were handed out, by the login they are of, and that nobody ended. */
  live: string[];
}

/** Facts of a ledger that do not hold in the database of an installation. @param folder its data folder */
export function findBroken(folder: string, { clients, ended, live }: Ledger): string[] {
  const database = new Database(join(folder, 'gatehouse.db'), { readonly: true });
  try {
    const client = database.prepare('SELECT count(*) FROM clients WHERE id = ?').pluck();
    const noted = database
      .prepare("SELECT count(*) FROM audit WHERE event = 'client.registered' AND details ->> 'clientId' = ?")
      .pluck();
    const artifact = database.prepare('SELECT count(*) FROM artifacts WHERE kind = ? AND id = ?').pluck();
    const isThere = (kind: string, token: string): boolean =>
      artifact.get(kind, hashSecret(kind, token)) === 1;
    return [
      ...clients.filter((id) => client.get(id) !== 1).map((id) => `the client ${id} is gone`),
      ...clients.filter((id) => noted.get(id) !== 1).map((id) => `that ${id} registered stands nowhere`),
      ...ended
        .filter(
          ({ access_token, refresh_token }) =>
            isThere('AccessToken', access_token) || isThere('RefreshToken', refresh_token),
        )
        .map(() => 'a token that had ended is back'),
      ...live
        .filter((token) => !isThere('AccessToken', token))
        .map(() => 'a token that was handed out is gone'),
    ];
  } finally {
    database.close();
  }
}
