import type Database from 'better-sqlite3';
import type { Conflict } from '../../artifacts.ts';
import {
  type PutUpstreamLink,
  type UpstreamChange,
  type UpstreamEnded,
  type UpstreamLinkRow,
  type UpstreamStore,
  unboundTokensSeconds,
} from '../../upstreams.ts';
import type { Writer } from '../connection/writer.ts';
import { createLoginMethodGuard } from './accounts.ts';

/** Links processed in one commit: small enough to not delay other writes. */
const batchSize = 100;

/** Parameters of a request to end sessions, null if absent. */
interface SessionsSought {
  upstream: string;
  issuer: string;
  sid: string | null;
  subject: string | null;
}

/** Creates the part of the upstream store that ends links and sessions, and finds links without dependents. */
export function createUpstreamEndings(
  db: Database.Database,
  writer: Writer,
): Pick<UpstreamStore, 'endLink' | 'unlink' | 'endSessions' | 'endAll' | 'releaseUnheld'> {
  const waysIn = createLoginMethodGuard(db);
  const find = db.prepare<[string], { accountId: string; generation: number; isKept: number }>(
    'SELECT account_id AS accountId, generation, is_kept AS isKept FROM upstream_links WHERE id = ?',
  );
  const ofLink = 'SELECT id FROM upstream_sessions WHERE link_id = ?';
  const countGrants = db
    .prepare<[string], number>(`SELECT count(*) FROM grants WHERE upstream_session_id IN (${ofLink})`)
    .pluck();
  const countLogins = db
    .prepare<[string], number>(`SELECT count(*) FROM artifacts WHERE upstream_session_id IN (${ofLink})`)
    .pluck();
  const queue = db.prepare(
    `INSERT INTO upstream_revocations (upstream, link_id, account_id, tokens)
     SELECT upstream, id, account_id, tokens FROM upstream_links WHERE id = ? AND tokens IS NOT NULL`,
  );
  const dropTokens = db.prepare(
    `UPDATE upstream_links SET tokens = NULL, generation = generation + 1, expires_at = NULL, unreachable_since = NULL,
       leased_until = NULL
     WHERE id = ? AND tokens IS NOT NULL`,
  );
  const endSessionsOf = db.prepare('DELETE FROM upstream_sessions WHERE link_id = ?');
  const remove = db.prepare('DELETE FROM upstream_links WHERE id = ?');
  const forget = db.prepare(
    `DELETE FROM identities WHERE (issuer, account_id) IN (SELECT issuer, account_id FROM upstream_links AS ended WHERE id = @id
       AND NOT EXISTS (SELECT 1 FROM upstream_links AS other
         WHERE other.account_id = ended.account_id AND other.issuer = ended.issuer AND other.id <> ended.id))`,
  );
  const seek = db.prepare<SessionsSought, { id: string; linkId: string }>(
    `SELECT upstream_sessions.id, link_id AS linkId FROM upstream_links
     JOIN upstream_sessions ON upstream_sessions.link_id = upstream_links.id
     WHERE upstream = @upstream AND issuer = @issuer AND subject = coalesce(@subject, subject)
       AND (sid = @sid OR (@subject IS NOT NULL AND (@sid IS NULL OR sid IS NULL)))`,
  );
  const grantsOfSession = db
    .prepare<[string], number>('SELECT count(*) FROM grants WHERE upstream_session_id = ?')
    .pluck();
  const loginsOfSession = db
    .prepare<[string], number>('SELECT count(*) FROM artifacts WHERE upstream_session_id = ?')
    .pluck();
  const endSession = db.prepare('DELETE FROM upstream_sessions WHERE id = ?');
  const linksTo = db
    .prepare<[string, string | null, string], string>(
      `SELECT id FROM upstream_links WHERE upstream = ? AND account_id = coalesce(?, account_id) AND id > ?
       ORDER BY id LIMIT ${batchSize}`,
    )
    .pluck();
  const toLookAt = db
    .prepare<[number], string>(
      `SELECT link_id FROM upstream_unheld WHERE look_at <= ? ORDER BY look_at LIMIT ${batchSize}`,
    )
    .pluck();
  const looked = db.prepare('DELETE FROM upstream_unheld WHERE link_id = ?');
  const isUnheld = db
    .prepare<[string], number>(
      `SELECT 1 FROM upstream_links WHERE id = ? AND is_kept = 0 AND NOT EXISTS (SELECT 1 FROM upstream_sessions
         JOIN grants ON grants.upstream_session_id = upstream_sessions.id WHERE link_id = upstream_links.id)`,
    )
    .pluck();
  const hasSessions = db.prepare<[string], number>(`${ofLink} LIMIT 1`).pluck();

  function endWhole(id: string, revoke: boolean, isKept: boolean): UpstreamEnded {
    const ended = { grants: countGrants.get(id) ?? 0, logins: countLogins.get(id) ?? 0 };
    if (revoke) queue.run(id);
    dropTokens.run(id);
    endSessionsOf.run(id);
    if (!isKept) remove.run(id);
    return ended;
  }

  function release(id: string): number {
    looked.run(id);
    if (!isUnheld.get(id)) return 0;
    const queued = queue.run(id).changes;
    dropTokens.run(id);
    if (!hasSessions.get(id)) remove.run(id);
    return queued;
  }

  return {
    endLink: (id, { ifGeneration, revoke }) =>
      writer.write(() => {
        const link = find.get(id);
        if (!link || link.generation !== (ifGeneration ?? link.generation)) return undefined;
        return endWhole(id, revoke, link.isKept === 1);
      }),
    unlink: (id, issuers) =>
      writer.write(() => {
        const link = find.get(id);
        if (!link) return undefined;
        return waysIn(link.accountId, issuers, () => {
          forget.run({ id });
          return endWhole(id, true, false);
        });
      }),
    endSessions: ({ upstream, issuer, sid = null, subject = null }) =>
      writer.write(() => {
        const links = new Set<string>();
        const ended = { grants: 0, logins: 0 };
        for (const { id, linkId } of seek.all({ upstream, issuer, sid, subject })) {
          links.add(linkId);
          ended.grants += grantsOfSession.get(id) ?? 0;
          ended.logins += loginsOfSession.get(id) ?? 0;
          endSession.run(id);
        }
        return { ...ended, links: [...links] };
      }),
    async endAll(upstream, accountId = undefined) {
      const ended = { links: 0, grants: 0, logins: 0 };
      for (let after: string | undefined = ''; after !== undefined; ) {
        const from: string = after;
        after = await writer.write(() => {
          const ids = linksTo.all(upstream, accountId ?? null, from);
          for (const id of ids) {
            const { grants, logins } = endWhole(id, true, find.get(id)?.isKept === 1);
            ended.links++;
            ended.grants += grants;
            ended.logins += logins;
          }
          return ids.length === batchSize ? ids.at(-1) : undefined;
        });
      }
      return ended;
    },
    async releaseUnheld(nowSeconds) {
      let released = 0;
      while (toLookAt.get(nowSeconds) !== undefined)
        released += await writer.write(() =>
          toLookAt.all(nowSeconds).reduce((queued, id) => queued + release(id), 0),
        );
      return released;
    },
  };
}

type Nullable = 'tokens' | 'expiresAt' | 'unreachableSince';

/** A row of the table of links. */
export type LinkRow = Omit<UpstreamLinkRow, Nullable | 'kept'> & {
  tokens: Buffer | null;
  expiresAt: number | null;
  unreachableSince: number | null;
  kept: number;
};

/** Columns of a link, named as in {@link LinkRow}. */
export const linkColumns = `upstream_links.id, account_id AS accountId, upstream, issuer, subject, profile, tokens, generation,
  expires_at AS expiresAt, proved_at AS provedAt, unreachable_since AS unreachableSince, is_kept AS kept,
  wanted_scopes AS wantedScopes, linked_at AS linkedAt`;

/** Converts a row to a link, without null members. */
export function toLink({ tokens, expiresAt, unreachableSince, kept, ...row }: LinkRow): UpstreamLinkRow {
  return {
    ...row,
    kept: kept === 1,
    ...(tokens === null ? undefined : { tokens }),
    ...(expiresAt === null ? undefined : { expiresAt }),
    ...(unreachableSince === null ? undefined : { unreachableSince }),
  };
}

/**
 * Creates the function that applies changes of links within a transaction.
 * @returns applies a change; returns the conflict if it is rejected
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
  // Holders of opened tokens read the row again and so find the new bond.
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
