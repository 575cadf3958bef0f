import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../../../src/storage/sqlite/connection/open.ts';
import {
  createRemovalCounter,
  watchDataVersion,
} from '../../../../src/storage/sqlite/connection/row-cache.ts';
import { testFolderForFile } from '../../../support/folder.ts';

const folder = testFolderForFile();

/** Two connections on one database, as two processes have them; the first is watched. */
function openTwice(name: string) {
  const [db, other] = [openDatabase(join(folder, name)), openDatabase(join(folder, name))];
  onTestFinished(() => {
    for (const connection of [db, other]) connection.close();
  });
  const put = db.prepare("INSERT INTO artifacts (kind, id, payload, expires_at) VALUES (?, ?, x'', 1)");
  return { db, other, put, mark: createRemovalCounter(db, watchDataVersion(db)) };
}

describe('the mark of removals', () => {
  it('stays while nothing of the kind is removed or changed, whatever is written on the connection', () => {
    const { db, put, mark } = openTwice('a.db');
    const before = mark('AccessToken');
    put.run('AccessToken', 'a');
    put.run('Session', 's');
    db.exec("UPDATE artifacts SET expires_at = 2; DELETE FROM artifacts WHERE kind = 'Session'");
    expect(mark('AccessToken')).toBe(before);
    expect(mark('Session')).not.toBe(before);
    db.exec("UPDATE artifacts SET payload = x'01'");
    expect(mark('AccessToken')).not.toBe(before);
  });

  it('changes with a removal by another connection in the next turn of the event loop (T-103)', async () => {
    const { other, put, mark } = openTwice('b.db');
    put.run('AccessToken', 'a');
    const before = mark('AccessToken');
    other.exec("DELETE FROM artifacts WHERE id = 'a'");
    await new Promise(setImmediate);
    expect(mark('AccessToken')).not.toBe(before);
  });

  it('changes with the end of a login at an upstream, which takes grants, and they their tokens (A10-02, T-103)', () => {
    const { db, mark } = openTwice('d.db');
    db.exec(`
      INSERT INTO accounts (id, email, password_hash, created_at) VALUES ('a', 'a@example.com', 'x', 1);
      INSERT INTO upstream_links (id, account_id, upstream, issuer, subject, profile, proved_at, linked_at)
        VALUES ('l', 'a', 'idp', 'https://idp.example', '1', x'00', 1, 1);
      INSERT INTO upstream_sessions (id, link_id, at) VALUES ('s', 'l', 1), ('t', 'l', 1);
      INSERT INTO grants (id, account_id, client_id, payload, expires_at, upstream_session_id)
        VALUES ('g', 'a', 'c', x'00', 9, 's'), ('h', 'a', 'c', x'00', 9, 't');
      INSERT INTO artifacts (id, kind, grant_number, payload, expires_at)
        SELECT 'of ' || id, 'AccessToken', number, x'00', 9 FROM grants;
      INSERT INTO artifacts (id, kind, upstream_session_id, payload, expires_at) VALUES ('b', 'Session', 's', x'00', 9);
    `);
    const before = [mark('AccessToken'), mark('Session')];
    db.exec("DELETE FROM upstream_sessions WHERE id = 's'");
    const between = [mark('AccessToken'), mark('Session')];
    expect(between[0]).not.toBe(before[0]);
    expect(between[1]).not.toBe(before[1]);
    db.exec("DELETE FROM accounts WHERE id = 'a'");
    expect(mark('AccessToken')).not.toBe(between[0]);
    expect(db.prepare('SELECT count(*) FROM artifacts').pluck().get()).toBe(0);
  });

  it('may change for a removal that is rolled back, and never misses one that is not', () => {
    const { db, put, mark } = openTwice('c.db');
    put.run('AccessToken', 'a');
    const before = mark('AccessToken');
    db.exec("BEGIN; DELETE FROM artifacts WHERE id = 'a'; ROLLBACK");
    const between = mark('AccessToken');
    db.exec("DELETE FROM artifacts WHERE id = 'a'");
    expect(new Set([before, mark('AccessToken')]).size).toBe(2);
    expect(mark('AccessToken')).not.toBe(between);
  });
});
