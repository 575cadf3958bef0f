import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../../src/storage/sqlite/connection/open.ts';
import { createWriter } from '../../../src/storage/sqlite/connection/writer.ts';
import { createSweeper } from '../../../src/storage/sqlite/sweep.ts';
import { testFolder } from '../../client/support/folder.ts';
import { patience } from '../../support/patience.ts';

describe('the sweeper', () => {
  it('removes a hundred thousand expired rows in batches that never hold the event loop long (T-180)', async () => {
    const db = openDatabase(join(testFolder(), 'gatehouse.db'));
    onTestFinished(() => void db.close());
    db.pragma('synchronous = OFF');
    db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
      INSERT INTO artifacts (id, kind, payload, expires_at) SELECT 'row' || i, 'AccessToken', randomblob(300), i % 7 FROM n`);
    db.exec(
      "INSERT INTO artifacts (id, kind, payload, expires_at) VALUES ('alive', 'AccessToken', x'00', 100)",
    );
    const pauses: number[] = [];
    let last = performance.now();
    const watch = setInterval(() => {
      pauses.push(performance.now() - last);
      last = performance.now();
    }, 1);
    const writer = createWriter(db);
    const batches: number[] = [];
    const counting = {
      ...writer,
      write: async <T>(work: () => T): Promise<T> => {
        const result = await writer.write(work);
        if (typeof result === 'number') batches.push(result);
        return result;
      },
    };
    expect(await createSweeper(db, counting)(100)).toBe(100_000);
    clearInterval(watch);
    expect(Math.max(...batches)).toBeLessThanOrEqual(1000);
    expect(Math.max(...pauses)).toBeLessThan(patience(200));
    expect(db.prepare('SELECT id FROM artifacts').pluck().all()).toEqual(['alive']);
  });

  it('forgets nodes a day after their last beat, whatever the clock of the server says, and no other', async () => {
    const db = openDatabase(join(testFolder(), 'gatehouse.db'));
    onTestFinished(() => void db.close());
    const hoursAgo = (hours: number): number => Date.now() - hours * 3_600_000;
    const add = db.prepare(
      "INSERT INTO nodes (id, address, version, started_at, beat_at_ms) VALUES (?, 'a:1', '1', 1, ?)",
    );
    add.run('dead', hoursAgo(25));
    add.run('lost', hoursAgo(23));
    const nowSeconds = Math.floor(Date.now() / 1000);
    expect(await createSweeper(db, createWriter(db))(nowSeconds + 1000 * 86_400)).toBe(1);
    expect(db.prepare('SELECT id FROM nodes').pluck().all()).toEqual(['lost']);
  });
});
