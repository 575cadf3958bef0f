import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../../src/storage/sqlite/open.ts';
import { testFolder } from '../../client/support/folder.ts';
import { describeArtifacts } from '../contract/artifacts.ts';
import { openNewDatabase } from './subject.ts';

describe('SQLite', () => describeArtifacts(openNewDatabase));

it('artifacts that arrive together stand together, and few pages lead to one of thousands', () => {
  const db = openDatabase(join(testFolder(), 'gatehouse.db'));
  onTestFinished(() => void db.close());
  const put = db.prepare(
    "INSERT INTO artifacts (id, kind, payload, expires_at) VALUES (?, 'AccessToken', ?, 1)",
  );
  db.transaction(() => {
    for (let n = 0; n < 5000; n++) put.run(randomBytes(32).toString('base64url'), randomBytes(500));
  })();
  const shape = db
    .prepare(
      `SELECT count(*) FILTER (WHERE pagetype = 'internal') AS inner, count(*) FILTER (WHERE pagetype = 'leaf') AS leaves
       FROM dbstat WHERE name = 'artifacts'`,
    )
    .get() as { inner: number; leaves: number };
  expect(shape.leaves).toBeLessThan(800);
  expect(shape.inner).toBeLessThan(10);
});
