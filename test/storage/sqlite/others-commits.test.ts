import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../../src/storage/sqlite/open.ts';
import { watchOthersCommits } from '../../../src/storage/sqlite/others-commits.ts';
import { testFolderForFile } from '../../support/folder.ts';

it('commits of other connections are seen in the next turn of the event loop, and own ones are none', async () => {
  const file = join(testFolderForFile(), 'gatehouse.db');
  const [db, other] = [openDatabase(file), openDatabase(file)];
  onTestFinished(() => {
    for (const connection of [db, other]) connection.close();
  });
  const write = "INSERT INTO clients (id, payload, created_at) VALUES (hex(randomblob(8)), x'', 1)";
  const commits = watchOthersCommits(db);
  const before = commits();
  db.exec(write);
  await nextTurn();
  expect(commits()).toBe(before);
  other.exec(write);
  expect(commits()).toBe(before);
  await nextTurn();
  expect(commits()).not.toBe(before);
});
