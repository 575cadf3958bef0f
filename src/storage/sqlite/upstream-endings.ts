import type Database from 'better-sqlite3';
import type { UpstreamEnded, UpstreamStore } from '../upstreams.ts';
import { createWaysIn } from './ways-in.ts';
import type { Writer } from './writer.ts';

/** Links ended or looked at in one commit: few enough that others hardly notice. */
const batchSize = 100;

/** What a request to end logins names, with null for what it does not. */
interface SessionsSought {
  upstream: string;
  issuer: string;
  sid: string | null;
  subject: string | null;
}

/** The part of the store that ends links and logins, and finds those that nothing hangs on. */
export function createUpstreamEndings(
  db: Database.Database,
  writer: Writer,
): Pick<UpstreamStore, 'endLink' | 'unlink' | 'endSessions' | 'endAll' | 'releaseUnheld'> {
  const waysIn = createWaysIn(db);
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
