import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../../../src/storage/sqlite/connection/open.ts';
import {
  createEmptyTableCheck,
  watchDataVersion,
} from '../../../../src/storage/sqlite/connection/row-cache.ts';
import { testFolderForFile } from '../../../support/folder.ts';

it('commits of other connections are seen in the next turn of the event loop, and own ones are none', async () => {
  const file = join(testFolderForFile(), 'gatehouse.db');
  const [db, other] = [openDatabase(file), openDatabase(file)];
  onTestFinished(() => {
    for (const connection of [db, other]) connection.close();
  });
  const write = "INSERT INTO clients (id, payload, created_at) VALUES (hex(randomblob(8)), x'', 1)";
  const commits = watchDataVersion(db);
  const before = commits();
  db.exec(write);
  await nextTurn();
  expect(commits()).toBe(before);
  other.exec(write);
  expect(commits()).toBe(before);
  await nextTurn();
  expect(commits()).not.toBe(before);
});

const folder = testFolderForFile();
const add = (id: string) =>
  `INSERT INTO accounts (id, email, password_hash, created_at) VALUES ('${id}', '${id}@example.com', 'x', 1)`;

/** Two connections on one database, as two processes have them; the first is watched. */
function openTwice(name: string) {
  const [db, other] = [openDatabase(join(folder, name)), openDatabase(join(folder, name))];
  onTestFinished(() => {
    for (const connection of [db, other]) connection.close();
  });
  return { db, other, isUnused: createEmptyTableCheck(db, 'accounts', watchDataVersion(db)) };
}

describe('a table that is watched for its first use', () => {
  it('is surely empty until this connection writes to it, also where that is undone', () => {
    const { db, isUnused } = openTwice('a.db');
    expect([isUnused(), isUnused()]).toEqual([true, true]);
    db.exec(`BEGIN; ${add('a')}; ROLLBACK`);
    expect(isUnused()).toBe(false);
  });

  it('is empty no more in the turn after another connection has written to it', async () => {
    const { other, isUnused } = openTwice('b.db');
    expect(isUnused()).toBe(true);
    other.exec(add('b'));
    await nextTurn();
    expect(isUnused()).toBe(false);
  });

  it('is still empty where another connection wrote something else', async () => {
    const { other, isUnused } = openTwice('c.db');
    expect(isUnused()).toBe(true);
    other.exec("INSERT INTO clients (id, payload, created_at) VALUES (hex(randomblob(8)), x'', 1)");
    await nextTurn();
    expect(isUnused()).toBe(true);
  });

  it('is not empty where something is in it before it is first looked at', () => {
    const { other, isUnused } = openTwice('d.db');
    other.exec(add('d'));
    expect(isUnused()).toBe(false);
  });
});
