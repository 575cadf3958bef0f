import type { CounterStore } from '../../counters.ts';
import type { Database } from '../connection/database.ts';

/**
 * Evaluated within a statement, it ends the wait of that statement's commit for the disk: a crash of the server may lose
 * counts of its last second, and a flood of attempts costs no flush each.
 */
const withoutFlush = "set_config('synchronous_commit', 'off', true)";

const milliseconds = (until: string): string =>
  `greatest(ceil(extract(epoch FROM ${until} - now()) * 1000), 1)::bigint`;

/** One in a window that has begun or ended; a full window stays as it is. `now()` is the start of the statement. */
const take = `
  WITH taken AS (
    INSERT INTO counters (key, points, ends_at)
      SELECT $1, 1, now() + make_interval(secs => $3::double precision) FROM ${withoutFlush}
    ON CONFLICT (key) DO UPDATE SET
      points = CASE WHEN counters.ends_at <= now() THEN 1 ELSE counters.points + 1 END,
      ends_at = CASE WHEN counters.ends_at <= now() THEN excluded.ends_at ELSE counters.ends_at END
      WHERE counters.points < $2::bigint OR counters.ends_at <= now()
    RETURNING key)
  SELECT EXISTS (SELECT FROM taken) AS "isTaken",
    (SELECT ${milliseconds('ends_at')} FROM counters WHERE key = $1) AS "leftMs"`;

const giveBack = `
  UPDATE counters SET points = greatest(points - 1, 0), ends_at = CASE WHEN points <= 1 THEN now() ELSE ends_at END
    FROM ${withoutFlush} WHERE key = $1 AND ends_at > now()`;

/** In the order of keys, so that two nodes never wait for each other. */
const add = `
  INSERT INTO counters (key, points, ends_at)
    SELECT added.key, added.points, now() + make_interval(secs => added.seconds)
    FROM ${withoutFlush}, unnest($1::text[], $2::bigint[], $3::double precision[]) AS added (key, points, seconds)
    ORDER BY added.key COLLATE "C"
  ON CONFLICT (key) DO UPDATE SET
    points = CASE WHEN counters.ends_at <= now() THEN excluded.points ELSE counters.points + excluded.points END,
    ends_at = CASE WHEN counters.ends_at <= now() THEN excluded.ends_at ELSE counters.ends_at END
  RETURNING key, points, ${milliseconds('ends_at')} AS "leftMs"`;

const batchSize = 500;

/** A counted row that a node is about to revive is left alone. */
const removeEnded = `
  DELETE FROM counters USING ${withoutFlush} WHERE key = ANY (ARRAY(
    SELECT key FROM counters WHERE ends_at < now() LIMIT ${batchSize} FOR UPDATE SKIP LOCKED))`;

/** The counters of a database, with the removal of those whose window has ended. */
export interface Counters extends CounterStore {
  /**
   * Removes counters whose window has ended, in short batches.
   * @returns the number of counters removed
   */
  removeEnded(): Promise<number>;
}

/**
 * Creates the counters of a PostgreSQL database. Each call is one statement in a transaction of its own. None waits for
 * the serial writes of the nodes, and no write waits for a count.
 * @param db connections for counters alone, so that a flood of attempts takes none from others
 */
export function createCounterStore(db: Database): Counters {
  return {
    async take(key, { times, windowSeconds }) {
      const row = await db.row<{ isTaken: boolean; leftMs: number | null }>(take, [
        key,
        times,
        windowSeconds,
      ]);
      return row?.isTaken ? 0 : (row?.leftMs ?? windowSeconds * 1000);
    },
    async giveBack(key) {
      await db.run(giveBack, [key]);
    },
    async reset(key) {
      await db.run(`DELETE FROM counters USING ${withoutFlush} WHERE key = $1`, [key]);
    },
    async add(counts) {
      const rows = await db.rows<{ key: string; points: number; leftMs: number }>(add, [
        counts.map(({ key }) => key),
        counts.map(({ points }) => String(points)),
        counts.map(({ windowSeconds }) => String(windowSeconds)),
      ]);
      return new Map(rows.map(({ key, points, leftMs }) => [key, { points, leftMs }]));
    },
    async removeEnded() {
      let removed = 0;
      for (let changes = batchSize; changes === batchSize; removed += changes)
        changes = await db.run(removeEnded);
      return removed;
    },
  };
}
