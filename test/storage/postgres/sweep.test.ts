import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { watchChangeMarks } from '../../../src/storage/postgres/connection/change-marks.ts';
import { openPool } from '../../../src/storage/postgres/connection/database.ts';
import { migrate } from '../../../src/storage/postgres/connection/migrate.ts';
import { createWriter, type Writer } from '../../../src/storage/postgres/connection/writer.ts';
import { createSweeper } from '../../../src/storage/postgres/sweep.ts';
import { usePostgres } from './subject.ts';

const server = usePostgres();

/** Opens a new database with a node that writes to it. */
async function openNode() {
  const options = { url: await server().createDatabase() };
  await migrate(options);
  const db = openPool(options);
  const marks = await watchChangeMarks(db);
  const writer = createWriter(options, marks);
  onTestFinished(async () => {
    await writer.close();
    marks.close();
    await db.close();
  });
  return { db, options, writer };
}

describe('the sweeper', () => {
  it('removes thirty thousand expired rows in batches, between which another node writes (T-180)', async () => {
    const { db, options, writer } = await openNode();
    await db.run(`INSERT INTO artifacts (id, kind, payload, expires_at)
      SELECT 'row' || i, 'AccessToken', decode(repeat('ab', 300), 'hex'), i % 7 FROM generate_series(1, 30000) AS i`);
    await db.run(
      `INSERT INTO artifacts (id, kind, payload, expires_at) VALUES ('alive', 'AccessToken', '', 100)`,
    );
    const batches: number[] = [];
    const counting: Pick<Writer, 'write'> = {
      async write(work, how) {
        const result = await writer.write(work, how);
        batches.push(Number(result));
        return result;
      },
    };
    const other = new pg.Client({ connectionString: options.url });
    await other.connect();
    onTestFinished(() => other.end());
    let isSwept = false;
    const sweep = createSweeper(counting)(100).finally(() => {
      isSwept = true;
    });
    let between = 0;
    for (; !isSwept; between++) await other.query('UPDATE commit_order SET commits = commits + 1');
    expect(await sweep).toBe(30_000);
    expect(Math.max(...batches)).toBeLessThanOrEqual(500);
    expect(between).toBeGreaterThan(10);
    expect(await db.rows('SELECT id FROM artifacts')).toEqual([{ id: 'alive' }]);
  });

  it('forgets marks of writers that have not committed for a day, and no other', async () => {
    const { db, writer } = await openNode();
    await db.run(`INSERT INTO commit_marks (writer, batch, at) VALUES
      ('gone', 1, clock_timestamp() - interval '25 hours'), ('idle', 1, clock_timestamp() - interval '23 hours')`);
    const nowSeconds = Math.floor(Date.now() / 1000);
    expect(await createSweeper(writer)(nowSeconds + 1000 * 86_400)).toBe(1);
    expect(await db.rows(`SELECT writer FROM commit_marks WHERE writer IN ('gone', 'idle')`)).toEqual([
      { writer: 'idle' },
    ]);
  });

  it('forgets nodes a day after their last beat, whatever the clock of the server says, and no other', async () => {
    const { db, writer } = await openNode();
    await db.run(`INSERT INTO nodes (id, address, version, started_at, beat_at) VALUES
      ('dead', 'a:1', '1', 1, clock_timestamp() - interval '25 hours'),
      ('lost', 'a:1', '1', 1, clock_timestamp() - interval '23 hours')`);
    const nowSeconds = Math.floor(Date.now() / 1000);
    expect(await createSweeper(writer)(nowSeconds + 1000 * 86_400)).toBe(1);
    expect(await db.rows('SELECT id FROM nodes')).toEqual([{ id: 'lost' }]);
  });
});
