import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../../../src/storage/sqlite/connection/open.ts';
import { createRowCache, watchDataVersion } from '../../../../src/storage/sqlite/connection/row-cache.ts';
import { testFolderForFile } from '../../../support/folder.ts';

const folder = testFolderForFile();

interface GrantRow {
  payload: Buffer;
}

/** Two connections on one database, as two processes have them; the first keeps what it reads. */
function openTwice(name: string) {
  const [db, other] = [openDatabase(join(folder, name)), openDatabase(join(folder, name))];
  onTestFinished(() => {
    for (const connection of [db, other]) connection.close();
  });
  db.exec(`
    INSERT INTO accounts (id, email, password_hash, created_at) VALUES ('a', 'a@example.com', 'x', 1);
    INSERT INTO grants (id, account_id, client_id, payload, expires_at) VALUES ('g', 'a', 'c', x'00', 9), ('h', 'a', 'c', x'00', 9)`);
  const select = db.prepare<[string], GrantRow>('SELECT payload FROM grants WHERE id = ?');
  const find = createRowCache(db, watchDataVersion(db))('grants', (id) => select.get(id));
  return { db, other, find };
}

describe('a row that is kept', () => {
  it('is the very same as long as nothing of it changes, whatever is written beside', () => {
    const { db, find } = openTwice('a.db');
    const row = find('g');
    db.exec("UPDATE grants SET used_at = 5; UPDATE grants SET payload = x'01' WHERE id = 'h'");
    expect(row).toBeDefined();
    expect(find('g')).toBe(row);
    expect(find('none')).toBeUndefined();
  });

  it.each([
    ['changes', "UPDATE grants SET payload = x'02' WHERE id = 'g'", Buffer.from([2])],
    ['lasts for another time', "UPDATE grants SET expires_at = 3 WHERE id = 'g'", Buffer.from([0])],
    ['goes', "DELETE FROM grants WHERE id = 'g'", undefined],
    ['goes with its account (T-166)', "DELETE FROM accounts WHERE id = 'a'", undefined],
  ])('is read again at once where it %s', (_how, change, payload) => {
    const { db, find } = openTwice(`b${String(payload?.[0])}${change.length}.db`);
    const row = find('g');
    db.exec(change);
    expect(find('g')).not.toBe(row);
    expect(find('g')?.payload).toEqual(payload);
  });

  it('is read again in the next turn of the event loop after a commit of another process (T-103)', async () => {
    const { other, find } = openTwice('c.db');
    expect(find('g')).toBeDefined();
    other.exec("DELETE FROM grants WHERE id = 'g'");
    await new Promise(setImmediate);
    expect(find('g')).toBeUndefined();
  });

  it('is not one that was read within a transaction, which may be undone', () => {
    const { db, find } = openTwice('d.db');
    const [row, untouched] = [find('g'), find('h')];
    db.exec('BEGIN');
    expect(find('g')).toBe(row);
    db.exec("UPDATE grants SET payload = x'03' WHERE id = 'g'");
    expect(find('g')?.payload).toEqual(Buffer.from([3]));
    db.exec('ROLLBACK');
    expect(find('g')?.payload).toEqual(Buffer.from([0]));
    expect(find('h')).toBe(untouched);
  });

  it('makes room for another when there are too many', () => {
    const { db, find } = openTwice('e.db');
    const insert = db.prepare(
      "INSERT INTO grants (id, account_id, client_id, payload, expires_at) VALUES (?, 'a', 'c', x'00', 9)",
    );
    const first = find('g');
    for (let at = 0; at < 1_000; at++) {
      insert.run(`more ${at}`);
      find(`more ${at}`);
    }
    expect(find('g')).toEqual(first);
    expect(find('g')).not.toBe(first);
    expect(find('more 999')).toBe(find('more 999'));
  });
});
