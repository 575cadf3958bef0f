import type Database from 'better-sqlite3';
import {
  revocationRetrySeconds,
  type UpstreamBond,
  type UpstreamRevocation,
  type UpstreamStore,
} from '../../upstreams.ts';
import { createEmptyTableCheck, type ForeignCommits } from '../connection/row-cache.ts';
import type { Writer } from '../connection/writer.ts';
import { createUpstreamEndings, type LinkRow, linkColumns, toLink } from './upstream-endings.ts';

// Subqueries: SQLite would prepare a join over indexes with conditions again for each value.
const bond = 'SELECT id AS sessionId, link_id AS linkId FROM upstream_sessions';

/** Query for the bond of an artifact's grant, by kind and hashed id. */
export const selectBondOfArtifact = `${bond}
  WHERE id = (SELECT upstream_session_id FROM grants
    WHERE number = (SELECT grant_number FROM artifacts WHERE kind = ? AND id = ?))`;

/** Creates the upstream store of a SQLite database. */
export function createUpstreamStore(
  db: Database.Database,
  writer: Writer,
  foreignCommits: ForeignCommits,
): UpstreamStore {
  const select = (rest: string): string => `SELECT ${linkColumns} FROM upstream_links ${rest}`;
  const find = db.prepare<[string], LinkRow>(select('WHERE id = ?'));
  const findOfAccount = db.prepare<[string, string], LinkRow>(
    select('WHERE account_id = ? AND upstream = ?'),
  );
  const listOfAccount = db.prepare<[string], LinkRow>(select('WHERE account_id = ? ORDER BY upstream'));
  const list = db.prepare<[string, string, number], LinkRow>(
    select('WHERE upstream = ? AND id > ? ORDER BY id LIMIT ?'),
  );
  const bondOf = db.prepare<[string], UpstreamBond>(
    `${bond} WHERE id = (SELECT upstream_session_id FROM grants WHERE id = ?)`,
  );
  const isWithoutSessions = createEmptyTableCheck(db, 'upstream_sessions', foreignCommits);
  const bondOfArtifact = db.prepare<[string, string], UpstreamBond>(selectBondOfArtifact);
  const linkOfSession = db.prepare<[string], LinkRow>(
    select('JOIN upstream_sessions ON link_id = upstream_links.id WHERE upstream_sessions.id = ?'),
  );
  // A lease longer than any that is given was made before the clock was set back (T-176).
  const claim = db.prepare(
    `UPDATE upstream_links SET leased_until = @now + @lease
     WHERE id = @id AND generation = @generation AND tokens IS NOT NULL
       AND (leased_until IS NULL OR leased_until <= @now OR leased_until > @now + @lease)`,
  );
  const putTokens = db.prepare(
    `UPDATE upstream_links SET tokens = @tokens, generation = generation + 1, expires_at = @expiresAt,
       profile = coalesce(@profile, profile), proved_at = @provedAt, unreachable_since = NULL, leased_until = NULL
     WHERE id = @id AND generation = @ifGeneration AND tokens IS NOT NULL`,
  );
  const holdsTokens = db
    .prepare<[string], number>('SELECT 1 FROM upstream_links WHERE id = ? AND tokens IS NOT NULL')
    .pluck();
  const queue = db.prepare(
    `INSERT INTO upstream_revocations (upstream, link_id, account_id, tokens) VALUES (@upstream, @id, @accountId, @tokens)`,
  );
  const proved = db.prepare(
    `UPDATE upstream_links SET proved_at = @at, unreachable_since = NULL, leased_until = NULL
     WHERE id = @id AND generation = @generation`,
  );
  const unreachable = db.prepare(
    `UPDATE upstream_links SET unreachable_since = coalesce(unreachable_since, @at), leased_until = NULL
     WHERE id = @id AND generation = @generation`,
  );
  const wantScopes = db.prepare('UPDATE upstream_links SET wanted_scopes = ? WHERE id = ?');
  const given = (row: LinkRow | undefined) => row && toLink(row);

  return {
    find: async (id) => given(find.get(id)),
    findOfAccount: async (accountId, upstream) => given(findOfAccount.get(accountId, upstream)),
    listOfAccount: async (accountId) => listOfAccount.all(accountId).map(toLink),
    list: async (upstream, { after = '', limit }) => list.all(upstream, after, limit).map(toLink),
    bondOf: async (grantId) => bondOf.get(grantId),
    bondOfArtifact: async (kind, id) => (isWithoutSessions() ? undefined : bondOfArtifact.get(kind, id)),
    linkOfSession: async (sessionId) => given(linkOfSession.get(sessionId)),
    claimRefresh: (id, generation, now, lease) =>
      writer.write(() => claim.run({ id, generation, now, lease }).changes === 1),
    putTokens: (id, ifGeneration, fresh) =>
      writer.write(() => {
        const row = { expiresAt: null, profile: null, ...fresh, id, ifGeneration };
        if (putTokens.run(row).changes === 1) return true;
        if (!holdsTokens.get(id)) queue.run(row);
        return false;
      }),
    noteProved: (id, generation, at) => writer.write(() => void proved.run({ id, generation, at })),
    noteUnreachable: (id, generation, at) => writer.write(() => void unreachable.run({ id, generation, at })),
    wantScopes: (id, scopes) =>
      writer.write(() => {
        const known = find.get(id)?.wantedScopes.split(' ').filter(Boolean) ?? [];
        wantScopes.run([...new Set([...known, ...scopes])].join(' '), id);
      }),
    ...createUpstreamEndings(db, writer),
    ...createUpstreamRevocations(db, writer),
  };
}

/** Creates the part of the upstream store that queues revocations. */
function createUpstreamRevocations(
  db: Database.Database,
  writer: Writer,
): Pick<UpstreamStore, 'dueRevocations' | 'revocationDone' | 'revocationFailed'> {
  const due = db.prepare<[number, number], UpstreamRevocation>(
    `SELECT id, upstream, link_id AS linkId, account_id AS accountId, tokens, attempts FROM upstream_revocations
     WHERE next_at <= ? ORDER BY next_at, id LIMIT ?`,
  );
  const claim = db.prepare(
    `UPDATE upstream_revocations SET next_at = @now + @lease, first_tried_at = coalesce(first_tried_at, @now) WHERE id = @id`,
  );
  const remove = db.prepare('DELETE FROM upstream_revocations WHERE id = ?');
  const giveUp = db.prepare(
    `DELETE FROM upstream_revocations WHERE id = ? AND first_tried_at + ${revocationRetrySeconds} < ?`,
  );
  const postpone = db.prepare(
    'UPDATE upstream_revocations SET attempts = attempts + 1, next_at = ? WHERE id = ?',
  );
  return {
    async dueRevocations(now, limit, lease) {
      if (due.get(now, 1) === undefined) return [];
      return writer.write(() => {
        const rows = due.all(now, limit);
        for (const { id } of rows) claim.run({ id, now, lease });
        return rows;
      });
    },
    revocationDone: (id) => writer.write(() => void remove.run(id)),
    revocationFailed: (id, nextAt) =>
      writer.write(() => {
        if (giveUp.run(id, nextAt).changes === 1) return true;
        postpone.run(nextAt, id);
        return false;
      }),
  };
}
