import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { migrate } from '../../../../src/storage/sqlite/connection/migrate.ts';
import { openDatabase } from '../../../../src/storage/sqlite/connection/open.ts';
import { openSqliteStorage } from '../../../../src/storage/sqlite/index.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { runProgram } from '../../../support/program.ts';
import { databaseOf } from '../earlier-database.ts';

const migrations = new URL('../../../../migrations/sqlite/', import.meta.url);
const tableNames = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name";

const isLong = process.env.GATEHOUSE_TEST_LONG !== undefined;
/** `scripts/test --long` kills at each statement, other runs at some. */
const stride = isLong ? 1 : 7;

/** The tables there are after none, one, two … of the migrations. */
function readStages(): unknown[][] {
  const db = new Database(':memory:');
  try {
    const stages = [db.prepare(tableNames).pluck().all()];
    for (const name of readdirSync(migrations).sort()) {
      db.exec(readFileSync(new URL(name, migrations), 'utf8'));
      stages.push(db.prepare(tableNames).pluck().all());
    }
    return stages;
  } finally {
    db.close();
  }
}

const stages = readStages();
const tables = stages.at(-1) ?? [];

function tablesOf(file: string): unknown[] {
  const db = new Database(file, { readonly: true });
  try {
    return db.prepare(tableNames).pluck().all();
  } finally {
    db.close();
  }
}

async function migrateInProcess(file: string, dieAtStatement: number): Promise<boolean> {
  const program = runProgram('test/storage/sqlite/migrate-and-die.ts', [file, String(dieAtStatement)]);
  return (await program.ended) === 0;
}

describe('migration', () => {
  it('makes all tables, once, and finds them the next time', () => {
    const file = join(testFolder(), 'gatehouse.db');
    openDatabase(file).close();
    expect(tablesOf(file)).toEqual(tables);
    const db = openDatabase(file);
    onTestFinished(() => void db.close());
    expect(db.pragma('user_version', { simple: true })).toBeGreaterThanOrEqual(1);
    expect(() => migrate(db)).not.toThrow();
  });

  it('killed at any statement leaves a step done or not begun, and the next start finishes it (T-174)', async () => {
    const folder = testFolder();
    const seen = new Set<number>();
    let finished = 0;
    for (let statement = 1; finished < 2; statement += 2 * stride) {
      const results = await Promise.all(
        [statement, statement + stride].map(async (at) => {
          const file = join(folder, `${at}.db`);
          const survived = await migrateInProcess(file, at);
          const left = tablesOf(file);
          seen.add(left.length);
          expect(stages, `killed at statement ${at}`).toContainEqual(left);
          openDatabase(file).close();
          expect(tablesOf(file)).toEqual(tables);
          return survived;
        }),
      );
      finished += results.filter(Boolean).length;
    }
    if (isLong)
      expect([...seen].sort((a, b) => a - b)).toEqual([...new Set(stages.map(({ length }) => length))]);
    else expect(seen.size).toBeGreaterThan(5);
  }, 240_000);

  it('of notes from before clients could have some leaves every note with its account', async () => {
    const rows = `
      INSERT INTO accounts (id, email, password_hash, created_at) VALUES ('ada', 'a@b', 'h', 1);
      INSERT INTO notes (id, account_id, text, created_at) VALUES ('n', 'ada', 'kept', 2)`;
    const storage = openSqliteStorage(databaseOf(1, rows));
    onTestFinished(() => storage.close());
    expect(await storage.notes.list('ada', 10)).toEqual([{ id: 'n', text: 'kept', createdAt: 2 }]);
  });

  it('of clients from before their use was known counts them as used, so that none is swept at once (T-061)', async () => {
    const rows = "INSERT INTO clients (id, payload, created_at) VALUES ('old', x'00', 1)";
    const storage = openSqliteStorage(databaseOf(1, rows));
    onTestFinished(() => storage.close());
    await storage.sweepExpired(Math.floor(Date.now() / 1000));
    expect(await storage.clients.find('old')).toMatchObject({ createdAt: 1 });
  });

  it('of grants and logins from before upstreams leaves them, hung on nothing (T-174)', async () => {
    const rows = `
      INSERT INTO accounts (id, email, password_hash, created_at) VALUES ('ada', 'a@b', 'h', 1);
      INSERT INTO identities (issuer, subject, account_id, created_at) VALUES ('https://idp.example', '1', 'ada', 1);
      INSERT INTO grants (id, account_id, client_id, payload, expires_at) VALUES ('g', 'ada', 'c', x'01', 9);
      INSERT INTO artifacts (id, kind, grant_id, payload, expires_at) VALUES ('t', 'AccessToken', 'g', x'02', 9);
      INSERT INTO artifacts (id, kind, account_id, payload, expires_at) VALUES ('s', 'Session', 'ada', x'03', 9);
      INSERT INTO artifacts (id, kind, grant_id, uid, payload, revision, failures, consumed_at, expires_at)
        VALUES ('d', 'DeviceCode', 'g', 'user code', x'04', 3, 4, 5, 9);
    `;
    const storage = openSqliteStorage(databaseOf(11, rows));
    onTestFinished(() => storage.close());
    expect(await storage.artifacts.findGrant('g')).toMatchObject({ payload: Buffer.of(1), expiresAt: 9 });
    expect(await storage.artifacts.find('AccessToken', 't')).toMatchObject({ payload: Buffer.of(2) });
    expect(await storage.artifacts.find('Session', 's')).toMatchObject({ payload: Buffer.of(3) });
    const used = { id: 'd', payload: Buffer.of(4), revision: 3, consumedAt: 5, expiresAt: 9 };
    expect(await storage.artifacts.findByUid('DeviceCode', 'user code')).toEqual(used);
    expect(await storage.upstreams.bondOf('g')).toBeUndefined();
    expect(await storage.upstreams.listOfAccount('ada')).toEqual([]);
    await storage.artifacts.revokeGrant('g');
    expect(await storage.artifacts.find('DeviceCode', 'd')).toBeUndefined();
    expect(await storage.upstreams.releaseUnheld(1)).toBe(0);
  });

  it('of grants from before they had numbers leaves each with what hangs on it and what it hangs on (T-174)', async () => {
    const rows = `
      INSERT INTO accounts (id, email, password_hash, created_at) VALUES ('ada', 'a@b', 'h', 1), ('ben', 'b@b', 'h', 1);
      INSERT INTO upstream_links (id, account_id, upstream, issuer, subject, profile, tokens, proved_at, linked_at)
        VALUES ('l', 'ada', 'idp', 'https://idp.example', '1', x'00', x'06', 1, 1);
      INSERT INTO upstream_sessions (id, link_id, at) VALUES ('u', 'l', 1);
      INSERT INTO grants (id, account_id, client_id, payload, expires_at, used_at, upstream_session_id)
        VALUES ('z', 'ada', 'c', x'01', 9, 8, 'u'), ('a', 'ben', 'd', x'02', 7, NULL, NULL);
      INSERT INTO artifacts (id, kind, grant_id, account_id, client_id, payload, revision, failures, consumed_at, expires_at,
          successors_at_ms)
        VALUES ('of z', 'RefreshToken', 'z', NULL, NULL, x'03', 2, 1, 4, 9, 5),
          ('of a', 'RefreshToken', 'a', NULL, NULL, x'04', 0, 0, NULL, 9, NULL),
          ('of none', 'Session', NULL, 'ben', 'd', x'05', 0, 0, NULL, 9, NULL);
      PRAGMA foreign_keys = OFF;
      INSERT INTO artifacts (id, kind, grant_id, payload, expires_at) VALUES ('lost', 'RefreshToken', 'gone', x'06', 9);
    `;
    const storage = openSqliteStorage(databaseOf(18, rows));
    onTestFinished(() => storage.close());
    const find = (id: string) => storage.artifacts.find('RefreshToken', id);
    const ofZ = { id: 'z', clientId: 'c', payload: Buffer.of(1), expiresAt: 9, usedAt: 8 };
    expect(await storage.artifacts.listGrants('ada')).toEqual([ofZ]);
    const ofA = { id: 'a', clientId: 'd', payload: Buffer.of(2), expiresAt: 7 };
    expect(await storage.artifacts.listGrants('ben')).toEqual([ofA]);
    expect(await storage.upstreams.bondOfArtifact('RefreshToken', 'of z')).toEqual({
      sessionId: 'u',
      linkId: 'l',
    });
    expect(await storage.upstreams.bondOfArtifact('RefreshToken', 'of a')).toBeUndefined();
    const used = {
      id: 'of z',
      payload: Buffer.of(3),
      revision: 2,
      consumedAt: 4,
      expiresAt: 9,
    };
    expect(await find('of z')).toEqual(used);
    expect(await find('lost')).toBeUndefined();
    expect(await storage.artifacts.listOf('Session', 'ben')).toMatchObject([{ id: 'of none' }]);

    await storage.artifacts.revokeGrant('z');
    expect(await find('of z')).toBeUndefined();
    expect(await find('of a')).toMatchObject({ payload: Buffer.of(4) });
    expect(await storage.upstreams.releaseUnheld(1)).toBe(1);
  });

  it('by several processes at once is done by one of them (T-174)', async () => {
    const file = join(testFolder(), 'gatehouse.db');
    openDatabase(file).close();
    const fresh = join(testFolder(), 'gatehouse.db');
    const ends = await Promise.all(Array.from({ length: 4 }, () => migrateInProcess(fresh, -1)));
    expect(ends).toEqual([true, true, true, true]);
    expect(tablesOf(fresh)).toEqual(tables);
  });
});
