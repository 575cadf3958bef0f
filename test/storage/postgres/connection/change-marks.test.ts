import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  lookMs,
  staleMs,
  watchChangeMarks,
} from '../../../../src/storage/postgres/connection/change-marks.ts';
import { openPool } from '../../../../src/storage/postgres/connection/database.ts';
import { migrate } from '../../../../src/storage/postgres/connection/migrate.ts';
import { createWriter } from '../../../../src/storage/postgres/connection/writer.ts';
import { StorageUnavailable } from '../../../../src/storage/storage.ts';
import { oneSecondMs } from '../../../support/one-second.ts';
import { usePostgres } from '../../../support/postgres/postgres.ts';
import { restartAsStandby } from '../fail-over.ts';

const server = usePostgres({ isOwn: true });

async function openNode(url: string) {
  const db = openPool({ url });
  const setBacks: number[] = [];
  const marks = await watchChangeMarks(db, () => setBacks.push(marks.setBacks));
  const writer = createWriter({ url }, marks);
  onTestFinished(async () => {
    await writer.close();
    marks.close();
    await db.close();
  });
  const run = (sql: string) => writer.write((tx) => tx.run(sql));
  return { marks, run, setBacks };
}

async function openNodes() {
  const url = await server().createDatabase();
  await migrate({ url });
  return { here: await openNode(url), there: await openNode(url) };
}

const addAccount = "INSERT INTO accounts VALUES ('ada', 'ada@example.com', '', 0)";
const addTokens = `INSERT INTO artifacts (id, kind, payload, expires_at)
  VALUES ('t', 'AccessToken', '', 1), ('r', 'RefreshToken', '', 1)`;

describe('the mark of a name', () => {
  it('stays while rows are added or used up, and changes at once for what this node removes or rewrites', async () => {
    const { here } = await openNodes();
    const marks = () => ['accounts', 'artifacts/AccessToken', 'artifacts/RefreshToken'].map(here.marks.of);
    const before = marks();
    await here.run(addAccount);
    await here.run(addTokens);
    await here.run("UPDATE artifacts SET consumed_at = 1 WHERE kind = 'RefreshToken'");
    expect(marks()).toEqual(before);
    await here.run("UPDATE artifacts SET payload = 'x', revision = 1 WHERE kind = 'AccessToken'");
    expect(marks()).toEqual([before[0], (before[1] ?? 0) + 1, before[2]]);
    await here.run("DELETE FROM artifacts WHERE kind = 'RefreshToken'");
    await here.run("UPDATE accounts SET password_hash = 'x'");
    expect(marks().map((mark, index) => mark - (before[index] ?? 0))).toEqual([1, 1, 1]);
  });

  it('changes within a second for what another node removes, with its account too (T-103)', async () => {
    const { here, there } = await openNodes();
    await there.run(addAccount);
    await there.run(
      "INSERT INTO artifacts (id, kind, account_id, payload, expires_at) VALUES ('t', 'AccessToken', 'ada', '', 1)",
    );
    await sleep(3 * lookMs);
    const before = here.marks.of('artifacts/AccessToken');
    await there.run('DELETE FROM accounts');
    const removedAt = performance.now();
    await expect.poll(() => here.marks.of('artifacts/AccessToken'), { interval: 10 }).toBe(before + 1);
    expect(performance.now() - removedAt).toBeLessThan(oneSecondMs);
  });

  it('is refused if the database has not answered for four seconds, and comes back by itself', async () => {
    const { here } = await openNodes();
    const stoppedAt = performance.now();
    await server().stop();
    await expect
      .poll(() => outcomeOf(() => here.marks.of('accounts')), { timeout: 10_000, interval: 50 })
      .toBe(StorageUnavailable);
    const waited = performance.now() - stoppedAt;
    expect(waited).toBeGreaterThan(staleMs - 1_000);
    await server().start();
    await expect
      .poll(() => outcomeOf(() => here.marks.of('accounts')), { timeout: 20_000, interval: 50 })
      .toBe(0);
  });

  it('changes if the database was set back, although the lost commits have left other numbers as they were', async () => {
    const { here, there } = await openNodes();
    await there.run(addAccount);
    await sleep(3 * lookMs);
    const before = here.marks.of('accounts');
    await there.run('UPDATE commit_order SET commits = commits - 2');
    await expect.poll(() => here.marks.setBacks).toBe(1);
    expect(here.marks.of('accounts')).toBeGreaterThan(before);
    expect(here.setBacks).toEqual([1]);
  });

  it('changes once if a standby has taken over, and is refused before that standby is promoted', async () => {
    const { here } = await openNodes();
    const before = here.marks.of('accounts');
    await restartAsStandby(server());
    await expect
      .poll(() => outcomeOf(() => here.marks.of('accounts')), { timeout: 10_000, interval: 50 })
      .toBe(StorageUnavailable);
    await server().query('SELECT pg_promote()');
    await expect
      .poll(() => outcomeOf(() => here.marks.of('accounts')), { timeout: 20_000, interval: 50 })
      .not.toBe(StorageUnavailable);
    expect(here.marks.of('accounts')).toBeGreaterThan(before);
    await here.run(addAccount);
    await sleep(3 * lookMs);
    expect(here.setBacks).toEqual([1]);
  });
});

function outcomeOf(work: () => number): unknown {
  try {
    return work();
  } catch (error) {
    return (error as Error).constructor;
  }
}
