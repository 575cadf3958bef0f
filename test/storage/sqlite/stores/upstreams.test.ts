import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openSqliteStorage } from '../../../../src/storage/sqlite/index.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { runProgram } from '../../../support/program.ts';
import { startOfTime } from '../../contract/subject.ts';
import { putBound } from '../../contract/upstream.ts';
import { describeUpstreamRevocations, describeUpstreams } from '../../contract/upstreams.ts';
import { openNewDatabase } from '../subject.ts';

const kills = Number(process.env.GATEHOUSE_KILLS || 6);

/** What does not hold of the accounts that were said to be bound, or not, and of those nothing was said of. */
function findBroken(file: string, said: string): string[] {
  const db = new Database(file, { readonly: true });
  onTestFinished(() => void db.close());
  const rows = db
    .prepare<
      [],
      { id: string; link: number; held: number; login: number; bound: number; token: number; queued: number }
    >(
      `SELECT id,
         (SELECT count(*) FROM upstream_links WHERE account_id = accounts.id) AS link,
         (SELECT count(*) FROM upstream_links WHERE account_id = accounts.id AND tokens IS NOT NULL) AS held,
         (SELECT count(*) FROM artifacts WHERE kind = 'Session' AND account_id = accounts.id
            AND upstream_session_id IS NOT NULL) AS login,
         (SELECT count(*) FROM grants WHERE account_id = accounts.id AND upstream_session_id IS NOT NULL) AS bound,
         (SELECT count(*) FROM artifacts JOIN grants ON grants.number = grant_number WHERE grants.account_id = accounts.id) AS token,
         (SELECT count(*) FROM upstream_revocations WHERE account_id = accounts.id) AS queued
       FROM accounts`,
    )
    .all();
  const unlooked = db.prepare<[], string>('SELECT link_id FROM upstream_unheld').pluck().all();
  return rows.flatMap(({ id, ...row }) => {
    const wasBound = said.includes(`bound ${id}\n`);
    const wasRevoked = said.includes(`revoked ${id}\n`);
    const whole = row.link === row.login && row.held + row.queued === row.link && row.bound === row.token;
    const seen =
      row.link === 0
        ? !wasBound && row.bound === 0
        : row.bound === 1
          ? !wasRevoked && row.held === 1
          : row.queued === 1 || unlooked.includes(`link of ${id}`);
    return whole && seen ? [] : [JSON.stringify({ id, ...row, wasBound, wasRevoked })];
  });
}

describe('SQLite', () => {
  describeUpstreams(openNewDatabase);

  it('has each generation of tokens refreshed by one of several processes (A10-02)', async () => {
    const file = join(testFolder(), 'gatehouse.db');
    const storage = openSqliteStorage(file);
    await putBound(storage);
    await storage.close();
    const last = 60;
    const programs = Array.from({ length: 3 }, () =>
      runProgram('test/storage/sqlite/refresh-in-turns.ts', [file, 'link of ada', String(last)]),
    );
    expect(await Promise.all(programs.map(({ ended }) => ended))).toEqual([0, 0, 0]);
    const refreshed = programs.flatMap(({ written }) =>
      written.stdout.split('\n').filter(Boolean).map(Number),
    );
    expect(refreshed.sort((a, b) => a - b)).toEqual(Array.from({ length: last - 1 }, (_, n) => n + 1));
  });

  it(
    `killed at any moment, ${kills} times, leaves no half of a bond, and no tokens that are forgotten (A10-02, T-164)`,
    async () => {
      const file = join(testFolder(), 'gatehouse.db');
      let said = '';
      for (let kill = 0; kill < kills; kill++) {
        const program = runProgram('test/storage/sqlite/bind-until-killed.ts', [file, String(kill)]);
        await program.waitFor('stdout', /released/);
        await pause((kill * 7) % 23);
        program.process.kill('SIGKILL');
        await program.ended;
        said += program.written.stdout;
        expect(findBroken(file, said), `kill ${kill}`).toEqual([]);
      }
      const storage = openSqliteStorage(file);
      onTestFinished(() => storage.close());
      await storage.upstreams.releaseUnheld(startOfTime);
      expect(findBroken(file, said)).toEqual([]);
      const queued = await storage.upstreams.dueRevocations(startOfTime, 99_999, 0);
      expect(queued.length).toBeGreaterThanOrEqual(said.match(/revoked/g)?.length ?? 0);
    },
    30_000 + kills * 5_000,
  );
});

describe('SQLite', () => describeUpstreamRevocations(openNewDatabase));
