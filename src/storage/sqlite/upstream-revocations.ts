import type Database from 'better-sqlite3';
import { revocationTriedSeconds, type UpstreamRevocation, type UpstreamStore } from '../upstreams.ts';
import type { Writer } from './writer.ts';

/** The part of the store that keeps what is to be revoked at upstreams. */
export function createUpstreamRevocations(
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
    `DELETE FROM upstream_revocations WHERE id = ? AND first_tried_at + ${revocationTriedSeconds} < ?`,
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
