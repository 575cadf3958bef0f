import {
  revocationRetrySeconds,
  type UpstreamBond,
  type UpstreamRevocation,
  type UpstreamStore,
} from '../../upstreams.ts';
import type { ChangeMarks } from '../connection/change-marks.ts';
import type { Database } from '../connection/database.ts';
import type { Writer } from '../connection/writer.ts';
import { createUpstreamEndings, type LinkRow, linkColumns, toLink } from './upstream-endings.ts';

const select = `SELECT ${linkColumns} FROM upstream_links`;

const sql = {
  find: `${select} WHERE id = $1`,
  findOfAccount: `${select} WHERE account_id = $1 AND upstream = $2`,
  listOfAccount: `${select} WHERE account_id = $1 ORDER BY upstream`,
  list: `${select} WHERE upstream = $1 AND id > $2 ORDER BY id LIMIT $3`,
  bondOf: `SELECT id AS "sessionId", link_id AS "linkId" FROM upstream_sessions
     WHERE id = (SELECT upstream_session_id FROM grants WHERE id = $1)`,
  bondOfArtifact: `SELECT id AS "sessionId", link_id AS "linkId" FROM upstream_sessions
     WHERE id = (SELECT upstream_session_id FROM grants
       WHERE number = (SELECT grant_number FROM artifacts WHERE kind = $1 AND id = $2))`,
  linkOfSession: `${select} JOIN upstream_sessions ON link_id = upstream_links.id WHERE upstream_sessions.id = $1`,
  // A lease longer than any that is given was made before the clock was set back (T-176).
  claim: `UPDATE upstream_links SET leased_until = $3::bigint + $4::bigint
     WHERE id = $1 AND generation = $2 AND tokens IS NOT NULL
       AND (leased_until IS NULL OR leased_until <= $3::bigint OR leased_until > $3::bigint + $4::bigint)`,
  putTokens: `UPDATE upstream_links SET tokens = $3, generation = generation + 1, expires_at = $4,
       profile = coalesce($5, profile), proved_at = $6, unreachable_since = NULL, leased_until = NULL
     WHERE id = $1 AND generation = $2 AND tokens IS NOT NULL`,
  queueUnheld: `INSERT INTO upstream_revocations (upstream, link_id, account_id, tokens)
     SELECT $2, $1, $3, $4 WHERE NOT EXISTS (SELECT FROM upstream_links WHERE id = $1 AND tokens IS NOT NULL)`,
  proved: `UPDATE upstream_links SET proved_at = $3, unreachable_since = NULL, leased_until = NULL
     WHERE id = $1 AND generation = $2`,
  unreachable: `UPDATE upstream_links SET unreachable_since = coalesce(unreachable_since, $3), leased_until = NULL
     WHERE id = $1 AND generation = $2`,
  wantedScopes: 'SELECT wanted_scopes AS "wantedScopes" FROM upstream_links WHERE id = $1',
  wantScopes: 'UPDATE upstream_links SET wanted_scopes = $2 WHERE id = $1',
} as const;

/** Creates the upstream store of a PostgreSQL database. */
export function createUpstreamStore(db: Database, writer: Writer, marks: ChangeMarks): UpstreamStore {
  const given = (row: LinkRow | undefined) => row && toLink(row);
  // The mark counts sessions that were ever added: requests of an installation without upstreams query nothing.
  const isWithoutSessions = (): boolean => marks.of('upstream_sessions') === 0;
  return {
    find: async (id) => given(await db.row<LinkRow>(sql.find, [id])),
    findOfAccount: async (accountId, upstream) =>
      given(await db.row<LinkRow>(sql.findOfAccount, [accountId, upstream])),
    listOfAccount: async (accountId) => (await db.rows<LinkRow>(sql.listOfAccount, [accountId])).map(toLink),
    list: async (upstream, { after = '', limit }) =>
      (await db.rows<LinkRow>(sql.list, [upstream, after, limit])).map(toLink),
    bondOf: (grantId) => db.row<UpstreamBond>(sql.bondOf, [grantId]),
    bondOfArtifact: async (kind, id) =>
      isWithoutSessions() ? undefined : db.row<UpstreamBond>(sql.bondOfArtifact, [kind, id]),
    linkOfSession: async (sessionId) => given(await db.row<LinkRow>(sql.linkOfSession, [sessionId])),
    claimRefresh: (id, generation, now, lease) =>
      writer.write(async (tx) => (await tx.run(sql.claim, [id, generation, now, lease])) === 1, {
        inOneFlight: true,
      }),
    putTokens: (id, ifGeneration, { upstream, accountId, tokens, expiresAt, profile, provedAt }) =>
      writer.write(
        async (tx) => {
          const put = tx.run(sql.putTokens, [id, ifGeneration, tokens, expiresAt, profile, provedAt]);
          tx.send(sql.queueUnheld, [id, upstream, accountId, tokens]);
          return (await put) === 1;
        },
        { inOneFlight: true },
      ),
    noteProved: (id, generation, at) =>
      writer.write(async (tx) => tx.send(sql.proved, [id, generation, at]), { inOneFlight: true }),
    noteUnreachable: (id, generation, at) =>
      writer.write(async (tx) => tx.send(sql.unreachable, [id, generation, at]), { inOneFlight: true }),
    wantScopes: (id, scopes) =>
      writer.write(async (tx) => {
        const row = await tx.row<{ wantedScopes: string }>(sql.wantedScopes, [id]);
        const known = row?.wantedScopes.split(' ').filter(Boolean) ?? [];
        tx.send(sql.wantScopes, [id, [...new Set([...known, ...scopes])].join(' ')]);
      }),
    ...createUpstreamEndings(db, writer),
    ...createUpstreamRevocations(db, writer),
  };
}

const revocationSql = {
  isDue: 'SELECT 1 AS found FROM upstream_revocations WHERE next_at <= $1 LIMIT 1',
  claimDue: `WITH due AS (
       SELECT id, upstream, link_id, account_id, tokens, attempts, next_at FROM upstream_revocations
       WHERE next_at <= $1::bigint ORDER BY next_at, id LIMIT $2
     ), claimed AS (
       UPDATE upstream_revocations
       SET next_at = $1::bigint + $3::bigint, first_tried_at = coalesce(first_tried_at, $1::bigint)
       WHERE id IN (SELECT id FROM due)
     )
     SELECT id, upstream, link_id AS "linkId", account_id AS "accountId", tokens, attempts FROM due
     ORDER BY next_at, id`,
  remove: 'DELETE FROM upstream_revocations WHERE id = $1',
  giveUp: `DELETE FROM upstream_revocations WHERE id = $1 AND first_tried_at + ${revocationRetrySeconds} < $2::bigint`,
  postpone: 'UPDATE upstream_revocations SET attempts = attempts + 1, next_at = $2 WHERE id = $1',
} as const;

/** Creates the part of the upstream store that queues revocations. */
function createUpstreamRevocations(
  db: Database,
  writer: Writer,
): Pick<UpstreamStore, 'dueRevocations' | 'revocationDone' | 'revocationFailed'> {
  return {
    async dueRevocations(now, limit, lease) {
      if (!(await db.row(revocationSql.isDue, [now]))) return [];
      return writer.write((tx) => tx.rows<UpstreamRevocation>(revocationSql.claimDue, [now, limit, lease]), {
        inOneFlight: true,
      });
    },
    revocationDone: (id) =>
      writer.write(async (tx) => tx.send(revocationSql.remove, [id]), { inOneFlight: true }),
    revocationFailed: (id, nextAt) =>
      writer.write(
        async (tx) => {
          const givenUp = tx.run(revocationSql.giveUp, [id, nextAt]);
          tx.send(revocationSql.postpone, [id, nextAt]);
          return (await givenUp) === 1;
        },
        { inOneFlight: true },
      ),
  };
}
