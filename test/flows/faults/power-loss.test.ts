// What survives when the power goes (flows of src/storage/sqlite/connection/open.ts and src/storage/sqlite/connection/writer.ts).
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { testFolder } from '../../client/support/folder.ts';
import { repository } from '../../support/program.ts';
import { type DiskEvent, LossyDisk, readDiskTrace, tracedCalls } from './support/disk-trace.ts';
import { isInstalled } from './support/faulty-machine.ts';

/** CI cuts the power at some moments; GATEHOUSE_POWER_CUTS at as many as it says. */
const cutPoints = Number(process.env.GATEHOUSE_POWER_CUTS ?? 250);

/** Numbers from 0 to 1, the same in each run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

/** Records what a program that rotates and revokes does to its disk. */
function record(synchronous: 'FULL' | 'NORMAL', steps: number): DiskEvent[] {
  const folder = testFolder();
  const trace = join(folder, 'trace');
  const files = ['gatehouse.db', 'gatehouse.db-wal', 'acknowledged'].flatMap((name) => [
    '-P',
    join(folder, name),
  ]);
  const program = join(repository, 'test/flows/faults/support/rotations.ts');
  const run = spawnSync(
    'strace',
    [
      ...['-f', '-y', '-xx', '-s', '1000000', '-o', trace, '-e', `trace=${tracedCalls}`, ...files],
      ...[process.execPath, program, folder, synchronous, String(steps)],
    ],
    { encoding: 'utf8', timeout: 60_000 },
  );
  expect([run.status, run.stderr]).toEqual([0, '']);
  return readDiskTrace(trace);
}

/** What of the acknowledged is not in a database: nothing, if all is well. */
function findLosses(folder: string, acknowledged: readonly string[]): string[] {
  const db = new Database(join(folder, 'gatehouse.db'));
  try {
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
    const consumed = db
      .prepare<[string], number | null>(
        "SELECT consumed_at FROM artifacts WHERE kind = 'RefreshToken' AND id = ?",
      )
      .pluck();
    const granted = db.prepare<[string], string>('SELECT id FROM grants WHERE id = ?').pluck();
    return acknowledged.filter((what) => {
      const [fact, step = ''] = what.split(' ');
      if (fact === 'revoked') return granted.get(`g${step}`) !== undefined;
      return consumed.get(`r${step}`) !== 1 || consumed.get(`r${Number(step) + 1}`) === undefined;
    });
  } finally {
    db.close();
  }
}

/** Cuts the power at many moments, and gives the facts that were lost, each with its moment. */
function cutPower(events: readonly DiskEvent[], cuts: number): { losses: string[]; moments: number } {
  const random = createRandom(7);
  const folder = testFolder();
  const durable = join(folder, 'durable');
  mkdirSync(durable);
  const disk = new LossyDisk(durable);
  const begin = events.findIndex((event) => event.type === 'acknowledged');
  for (const event of events.slice(0, begin)) disk.apply(event);
  disk.settle();
  const after = events.slice(begin + 1);
  const every = after.length / cuts;
  const acknowledged: string[] = [];
  const losses: string[] = [];
  let moments = 0;
  for (const [index, event] of after.entries()) {
    disk.apply(event);
    if (event.type === 'acknowledged') acknowledged.push(event.what);
    if (Math.floor((index + 1) / every) === Math.floor(index / every)) continue;
    const keeps = [() => 0, () => Math.round(random()), random][moments % 3] ?? (() => 0);
    const place = join(folder, 'after');
    disk.losePower(place, keeps);
    // The last facts are those in danger, and reading back all of them each time would take minutes.
    losses.push(...findLosses(place, acknowledged.slice(-30)).map((fact) => `${fact} at ${index}`));
    moments++;
  }
  return { losses, moments };
}

describe.skipIf(!isInstalled('strace'))('when the power goes', () => {
  it(`at any of ${cutPoints} moments, nothing that was acknowledged is lost, and the database is whole (T-167)`, () => {
    const events = record('FULL', 300);
    const { losses, moments } = cutPower(events, cutPoints);
    expect(moments).toBe(cutPoints);
    expect(losses).toEqual([]);
  }, 180_000);

  it('facts are lost where writes are not made durable one by one, so the test bites (T-167)', () => {
    const { losses } = cutPower(record('NORMAL', 100), 100);
    expect(losses.length).toBeGreaterThan(0);
  }, 60_000);
});
