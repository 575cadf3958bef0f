import { join } from 'node:path';
import Database from 'better-sqlite3';
import { createSealedBox } from '../../../src/crypto/sealed-box.ts';
import { openDataFolder } from '../../../src/storage/sqlite/index.ts';
import { createVault } from '../../../src/upstream/vault.ts';

/** What the database of a server that is not running has of people's logins at an upstream. */
export interface HeldUpstream {
  /** The refresh token that is held for each subject. */
  refreshTokens: ReadonlyMap<string, string>;
  /** Grants and logins in browsers of these people that hang on no login there. */
  unbound: string[];
}

/**
 * Reads it, and ends what a killed process had reserved for itself, as waiting would.
 * @param folder its data folder
 * @param upstream name of the upstream
 * @param local e-mail address of whoever logs in here as well
 */
export async function readHeldUpstream(
  folder: string,
  upstream: string,
  local: string,
): Promise<HeldUpstream> {
  const { storage, keys } = await openDataFolder(folder);
  const vault = createVault(createSealedBox(keys.sealing), () => 0);
  const links = await storage.upstreams.list(upstream, { limit: 100 });
  await storage.close();
  const database = new Database(join(folder, 'gatehouse.db'));
  try {
    database.exec(
      'UPDATE upstream_links SET leased_until = NULL; UPDATE upstream_revocations SET next_at = 0',
    );
    const unbound = database
      .prepare<[string, string], string>(
        `SELECT 'grant ' || id FROM grants
           WHERE upstream_session_id IS NULL AND account_id <> (SELECT id FROM accounts WHERE email = ?)
         UNION ALL SELECT 'login ' || id FROM artifacts
           WHERE kind = 'Session' AND upstream_session_id IS NULL
             AND account_id <> (SELECT id FROM accounts WHERE email = ?)`,
      )
      .pluck()
      .all(local, local);
    return {
      refreshTokens: new Map(
        links.flatMap((link): [string, string][] => {
          const token = vault.open(link)?.refreshToken;
          return token === undefined ? [] : [[link.subject, token]];
        }),
      ),
      unbound,
    };
  } finally {
    database.close();
  }
}
