import type { Conflict } from '../../artifacts.ts';
import {
  type PutUpstreamLink,
  type UpstreamChange,
  type UpstreamEnded,
  type UpstreamLinkRow,
  type UpstreamStore,
  unboundTokensSeconds,
} from '../../upstreams.ts';
import type { Database } from '../connection/database.ts';
import type { Transaction, Writer } from '../connection/writer.ts';
import { keepLoginMethod } from './accounts.ts';

/** Links processed in one commit: small enough to not delay other writes. */
const batchSize = 100;

/** Counts what depends on sessions, given as SQL that selects their ids. */
const countEnded = (sessions: string): string =>
  `SELECT (SELECT count(*) FROM grants WHERE upstream_session_id IN (${sessions})) AS grants,
     (SELECT count(*) FROM artifacts WHERE upstream_session_id IN (${sessions})) AS logins`;

const sql = {
  find: 'SELECT account_id AS "accountId", generation FROM upstream_links WHERE id = $1',
  countOfLinks: countEnded('SELECT id FROM upstream_sessions WHERE link_id = ANY ($1)'),
  queue: `INSERT INTO upstream_revocations (upstream, link_id, account_id, tokens)
     SELECT upstream, id, account_id, tokens FROM upstream_links WHERE id = ANY ($1) AND tokens IS NOT NULL ORDER BY id`,
  dropTokens: `UPDATE upstream_links SET tokens = NULL, generation = generation + 1, expires_at = NULL,
       unreachable_since = NULL, leased_until = NULL
     WHERE id = ANY ($1) AND tokens IS NOT NULL`,
  endSessionsOf: 'DELETE FROM upstream_sessions WHERE link_id = ANY ($1)',
  remove: 'DELETE FROM upstream_links WHERE id = ANY ($1)',
  removeUnkept: 'DELETE FROM upstream_links WHERE id = ANY ($1) AND NOT is_kept',
  forget: `DELETE FROM identities WHERE (issuer, account_id) IN (SELECT issuer, account_id FROM upstream_links AS ended
       WHERE id = $1 AND NOT EXISTS (SELECT FROM upstream_links AS other
         WHERE other.account_id = ended.account_id AND other.issuer = ended.issuer AND other.id <> ended.id))`,
  seek: `SELECT upstream_sessions.id, link_id AS "linkId" FROM upstream_links
     JOIN upstream_sessions ON upstream_sessions.link_id = upstream_links.id
     WHERE upstream = $1 AND issuer = $2 AND subject = coalesce($4, subject)
       AND (sid = $3 OR ($4::text IS NOT NULL AND ($3::text IS NULL OR sid IS NULL)))`,
  countOfSessions: countEnded('SELECT unnest($1::text[])'),
  endSessions: 'DELETE FROM upstream_sessions WHERE id = ANY ($1)',
  linksTo: `SELECT id FROM upstream_links WHERE upstream = $1 AND account_id = coalesce($2, account_id) AND id > $3
     ORDER BY id LIMIT ${batchSize}`,
  toLookAt: `SELECT link_id AS id FROM upstream_unheld WHERE look_at <= $1 ORDER BY look_at LIMIT ${batchSize}`,
  looked: 'DELETE FROM upstream_unheld WHERE link_id = ANY ($1)',
  unheld: `SELECT id FROM upstream_links WHERE id = ANY ($1) AND NOT is_kept
       AND NOT EXISTS (SELECT FROM upstream_sessions JOIN grants ON grants.upstream_session_id = upstream_sessions.id
         WHERE link_id = upstream_links.id)`,
  removeWithoutSessions: `DELETE FROM upstream_links
     WHERE id = ANY ($1) AND NOT EXISTS (SELECT FROM upstream_sessions WHERE link_id = upstream_links.id)`,
} as const;

/** Ends links with everything that depends on them; those that are kept stay unless `whole`. */
async function endLinks(
  tx: Transaction,
  ids: readonly string[],
  { revoke, whole = false }: { revoke: boolean; whole?: boolean },
): Promise<UpstreamEnded> {
  const count = tx.row<UpstreamEnded>(sql.countOfLinks, [ids]);
  if (revoke) tx.send(sql.queue, [ids]);
  tx.send(sql.dropTokens, [ids]);
  tx.send(sql.endSessionsOf, [ids]);
  tx.send(whole ? sql.remove : sql.removeUnkept, [ids]);
  return (await count) ?? { grants: 0, logins: 0 };
}

/** Looks at a batch of links that lost a grant or session, and returns the number of token sets queued. */
async function releaseBatch(tx: Transaction, nowSeconds: number): Promise<number> {
  const idsOf = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id);
  const looked = idsOf(await tx.rows<{ id: string }>(sql.toLookAt, [nowSeconds]));
  tx.send(sql.looked, [looked]);
  const ids = idsOf(await tx.rows<{ id: string }>(sql.unheld, [looked]));
  const queued = tx.run(sql.queue, [ids]);
  tx.send(sql.dropTokens, [ids]);
  tx.send(sql.removeWithoutSessions, [ids]);
  return queued;
}

/** Creates the part of the upstream store that ends links and sessions, and finds links without dependents. */
export function createUpstreamEndings(
  db: Database,
  writer: Writer,
): Pick<UpstreamStore, 'endLink' | 'unlink' | 'endSessions' | 'endAll' | 'releaseUnheld'> {
  const find = (tx: Transaction, id: string) =>
    tx.row<{ accountId: string; generation: number }>(sql.find, [id]);
  return {
    endLink: (id, { ifGeneration, revoke }) =>
      writer.write(async (tx) => {
        const link = await find(tx, id);
        if (!link || link.generation !== (ifGeneration ?? link.generation)) return undefined;
        return endLinks(tx, [id], { revoke });
      }),
    unlink: (id, issuers) =>
      writer.write(async (tx) => {
        const link = await find(tx, id);
        if (!link) return undefined;
        return keepLoginMethod(tx, link.accountId, issuers, () => {
          tx.send(sql.forget, [id]);
          return endLinks(tx, [id], { revoke: true, whole: true });
        });
      }),
    endSessions: ({ upstream, issuer, sid, subject }) =>
      writer.write(async (tx) => {
        const found = await tx.rows<{ id: string; linkId: string }>(sql.seek, [
          ...[upstream, issuer, sid, subject],
        ]);
        const ids = found.map(({ id }) => id);
        const count = tx.row<UpstreamEnded>(sql.countOfSessions, [ids]);
        tx.send(sql.endSessions, [ids]);
        const ended = (await count) ?? { grants: 0, logins: 0 };
        return { ...ended, links: [...new Set(found.map(({ linkId }) => linkId))] };
      }),
    async endAll(upstream, accountId) {
      const ended = { links: 0, grants: 0, logins: 0 };
      for (let after: string | undefined = ''; after !== undefined; ) {
        const from: string = after;
        const batch = await writer.write(async (tx) => {
          const rows = await tx.rows<{ id: string }>(sql.linksTo, [upstream, accountId, from]);
          const ids = rows.map(({ id }) => id);
          return { ids, ...(await endLinks(tx, ids, { revoke: true })) };
        });
        ended.links += batch.ids.length;
        ended.grants += batch.grants;
        ended.logins += batch.logins;
        after = batch.ids.length === batchSize ? batch.ids.at(-1) : undefined;
      }
      return ended;
    },
    async releaseUnheld(nowSeconds) {
      let released = 0;
      while (await db.row(sql.toLookAt, [nowSeconds]))
        released += await writer.write((tx) => releaseBatch(tx, nowSeconds));
      return released;
    },
  };
}

type Nullable = 'tokens' | 'expiresAt' | 'unreachableSince';

/** A row of the table of links. */
export type LinkRow = Omit<UpstreamLinkRow, Nullable> & {
  tokens: Buffer | null;
  expiresAt: number | null;
  unreachableSince: number | null;
};

/** Columns of a link, named as in {@link LinkRow}. */
export const linkColumns = `upstream_links.id, account_id AS "accountId", upstream, issuer, subject, profile, tokens, generation,
  expires_at AS "expiresAt", proved_at AS "provedAt", unreachable_since AS "unreachableSince", is_kept AS kept,
  wanted_scopes AS "wantedScopes", linked_at AS "linkedAt"`;

/** Converts a row to a link, without null members. */
export function toLink({ tokens, expiresAt, unreachableSince, ...row }: LinkRow): UpstreamLinkRow {
  return {
    ...row,
    ...(tokens === null ? undefined : { tokens }),
    ...(expiresAt === null ? undefined : { expiresAt }),
    ...(unreachableSince === null ? undefined : { unreachableSince }),
  };
}

const changeSql = {
  add: `INSERT INTO upstream_links (id, account_id, upstream, issuer, subject, profile, tokens, expires_at, proved_at,
       is_kept, linked_at)
     SELECT $1, id, $3, $4, $5, $6, $7, $8, $9, $10, $11 FROM accounts WHERE id = $2
     ON CONFLICT DO NOTHING`,
  replace: `UPDATE upstream_links SET profile = $6, tokens = $7, generation = generation + 1, expires_at = $8,
       proved_at = $9, is_kept = is_kept OR $10, unreachable_since = NULL, leased_until = NULL
     WHERE id = $1 AND account_id = $2 AND upstream = $3 AND issuer = $4 AND subject = $5 AND generation = $11`,
  isSomebodyElse: `SELECT 1 AS found FROM upstream_links WHERE upstream = $1
     AND (account_id = $2) <> (issuer = $3 AND subject = $4)`,
  isAccount: 'SELECT 1 AS found FROM accounts WHERE id = $1',
  lookLater: `INSERT INTO upstream_unheld (link_id, look_at) VALUES ($1, $2)
     ON CONFLICT (link_id) DO UPDATE SET look_at = excluded.look_at`,
  addSession: `INSERT INTO upstream_sessions (id, link_id, sid, at)
     SELECT $1, id, $3, $4 FROM upstream_links WHERE id = $2`,
  bind: `UPDATE grants SET upstream_session_id = $2
     WHERE id = $1 AND account_id = (SELECT account_id FROM upstream_links
       WHERE id = (SELECT link_id FROM upstream_sessions WHERE id = $2))`,
  // Holders of opened tokens read the row again and so find the new bond.
  touchTokens: `UPDATE artifacts SET revision = revision + 1, payload = payload
     WHERE grant_number = (SELECT number FROM grants WHERE id = $1) AND kind = 'AccessToken'`,
} as const;

async function putLink(tx: Transaction, change: PutUpstreamLink): Promise<Conflict | undefined> {
  const { id, accountId, upstream, issuer, subject, ifGeneration, at } = change;
  const written = tx.run(ifGeneration === undefined ? changeSql.add : changeSql.replace, [
    ...[id, accountId, upstream, issuer, subject, change.profile, change.tokens, change.expiresAt],
    ...[change.provedAt, change.kept === true, ifGeneration ?? at],
  ]);
  tx.send(changeSql.lookLater, [id, at + unboundTokensSeconds]);
  if ((await written) === 1) return undefined;
  if (!(await tx.row(changeSql.isAccount, [accountId]))) return { reason: 'orphan', kind: 'Account' };
  const isSomebodyElse = await tx.row(changeSql.isSomebodyElse, [upstream, accountId, issuer, subject]);
  return { reason: isSomebodyElse ? 'present' : 'changed', kind: 'UpstreamLink', id };
}

/**
 * Applies a change of links within a transaction. Sends all that it writes before it awaits.
 * @returns the conflict if it is rejected
 */
export async function applyUpstreamChange(
  tx: Transaction,
  change: UpstreamChange,
): Promise<Conflict | undefined> {
  switch (change.type) {
    case 'putUpstreamLink':
      return putLink(tx, change);
    case 'addUpstreamSession': {
      const { id, linkId, sid, at } = change;
      const added = await tx.run(changeSql.addSession, [id, linkId, sid, at]);
      return added === 1 ? undefined : { reason: 'orphan', kind: 'UpstreamLink' };
    }
    case 'bindGrant': {
      const bound = tx.run(changeSql.bind, [change.id, change.upstreamSessionId]);
      tx.send(changeSql.touchTokens, [change.id]);
      return (await bound) > 0 ? undefined : { reason: 'orphan', kind: 'UpstreamSession' };
    }
  }
}
