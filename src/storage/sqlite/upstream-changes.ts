import type Database from 'better-sqlite3';
import type { Conflict } from '../artifacts.ts';
import { type PutUpstreamLink, type UpstreamChange, unboundTokensSeconds } from '../upstreams.ts';

/**
 * Creates the carrying out of changes to links, inside of a transaction.
 * @returns a function that carries one out and gives the conflict where it is refused
 */
export function createUpstreamChanges(
  db: Database.Database,
): (change: UpstreamChange) => Conflict | undefined {
  const add = db.prepare(
    `INSERT INTO upstream_links (id, account_id, upstream, issuer, subject, profile, tokens, expires_at, proved_at, is_kept, linked_at)
     SELECT @id, id, @upstream, @issuer, @subject, @profile, @tokens, @expiresAt, @provedAt, @kept, @at FROM accounts
     WHERE id = @accountId
     ON CONFLICT DO NOTHING`,
  );
  const replace = db.prepare(
    `UPDATE upstream_links SET profile = @profile, tokens = @tokens, generation = generation + 1, expires_at = @expiresAt,
       proved_at = @provedAt, is_kept = max(is_kept, @kept), unreachable_since = NULL, leased_until = NULL
     WHERE id = @id AND generation = @ifGeneration AND account_id = @accountId AND upstream = @upstream
       AND issuer = @issuer AND subject = @subject`,
  );
  const isSomebodyElse = db
    .prepare<Pick<PutUpstreamLink, 'upstream' | 'accountId' | 'issuer' | 'subject'>, number>(
      `SELECT 1 FROM upstream_links WHERE upstream = @upstream
         AND (account_id = @accountId) <> (issuer = @issuer AND subject = @subject)`,
    )
    .pluck();
  const isAccount = db.prepare<[string], number>('SELECT 1 FROM accounts WHERE id = ?').pluck();
  const lookLater = db.prepare(
    `INSERT INTO upstream_unheld (link_id, look_at) VALUES (?, ?)
     ON CONFLICT (link_id) DO UPDATE SET look_at = excluded.look_at`,
  );
  const addSession = db.prepare(
    `INSERT INTO upstream_sessions (id, link_id, sid, at)
     SELECT @id, id, @sid, @at FROM upstream_links WHERE id = @linkId`,
  );
  const bind = db.prepare(
    `UPDATE grants SET upstream_session_id = @upstreamSessionId
     WHERE id = @id AND account_id = (SELECT account_id FROM upstream_links
       WHERE id = (SELECT link_id FROM upstream_sessions WHERE id = @upstreamSessionId))`,
  );
  // Whoever keeps an opened token looks at its row again, and finds what its grant hangs on now.
  const touchTokens = db.prepare(
    `UPDATE artifacts SET revision = revision + 1, payload = payload
     WHERE grant_number = (SELECT number FROM grants WHERE id = ?) AND kind = 'AccessToken'`,
  );

  function putLink(change: PutUpstreamLink): Conflict | undefined {
    const row = { expiresAt: null, ifGeneration: null, ...change, kept: change.kept === true ? 1 : 0 };
    const statement = change.ifGeneration === undefined ? add : replace;
    if (statement.run(row).changes === 1) {
      lookLater.run(change.id, change.at + unboundTokensSeconds);
      return undefined;
    }
    if (!isAccount.get(change.accountId)) return { reason: 'orphan', kind: 'Account' };
    const reason = isSomebodyElse.get(row) ? 'present' : 'changed';
    return { reason, kind: 'UpstreamLink', id: change.id };
  }

  return (change) => {
    switch (change.type) {
      case 'putUpstreamLink':
        return putLink(change);
      case 'addUpstreamSession':
        return addSession.run({ sid: null, ...change }).changes === 1
          ? undefined
          : { reason: 'orphan', kind: 'UpstreamLink' };
      case 'bindGrant':
        if (bind.run(change).changes === 0) return { reason: 'orphan', kind: 'UpstreamSession' };
        touchTokens.run(change.id);
        return undefined;
    }
  };
}
