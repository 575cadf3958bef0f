import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../../../src/storage/sqlite/connection/open.ts';
import { openSqliteStorage } from '../../../../src/storage/sqlite/index.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { describeArtifacts, describeLiveGrants } from '../../contract/artifacts.ts';
import { account, artifact, grant, startOfTime } from '../../contract/subject.ts';
import { openNewDatabase } from '../subject.ts';

describe('SQLite', () => describeArtifacts(openNewDatabase));

it('artifacts that one process just wrote are found in the next turn as another one left them (T-036, T-103)', async () => {
  const folder = testFolder();
  const [here, there] = [join(folder, 'a.db'), join(folder, 'a.db')].map((file) => openSqliteStorage(file));
  onTestFinished(async () => void (await Promise.all([here?.close(), there?.close()])));
  const found = async (id: string) => {
    await new Promise(setImmediate);
    return here?.artifacts.find('RefreshToken', id);
  };
  await here?.accounts.add(account('ada'));
  await here?.artifacts.commit([grant('g'), artifact('t'), artifact('u', { grantId: 'g' })]);
  expect([await found('t'), await found('u')]).toMatchObject([{ id: 't' }, { id: 'u' }]);
  await there?.artifacts.commit([{ type: 'consume', kind: 'RefreshToken', id: 't', at: startOfTime }]);
  expect(await found('t')).toMatchObject({ consumedAt: startOfTime });
  await there?.artifacts.revokeGrant('g');
  expect(await found('u')).toBeUndefined();
});

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

describe('SQLite', () => describeLiveGrants(openNewDatabase));
