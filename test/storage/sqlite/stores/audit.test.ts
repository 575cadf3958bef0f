import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ChainFault, checkChain } from '../../../../src/crypto/audit-chain.ts';
import { openDataFolder } from '../../../../src/storage/sqlite/index.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { describeAudit } from '../../contract/audit.ts';
import { openNewDatabase } from '../subject.ts';

/** An audit log of five rows, and somebody who can write its database, but has no keys. */
async function startLog() {
  const folder = testFolder();
  const { storage, keys } = await openDataFolder(folder);
  onTestFinished(() => storage.close());
  const append = (...events: string[]): Promise<void> =>
    storage.audit.append(events.map((event) => ({ at: 1, event, details: {} })));
  await append('a', 'b', 'c', 'd', 'e');
  const tamper = (sql: string): void => {
    const db = new Database(join(folder, 'gatehouse.db'));
    db.exec(sql);
    db.close();
  };
  const verify = async (): Promise<ChainFault['fault'][]> => {
    const { start, head } = await storage.audit.ends();
    const checking = checkChain(keys.audit, start);
    for (const row of await storage.audit.read({ limit: 100 })) checking.add(row);
    return checking.finish(head).map(({ fault }) => fault);
  };
  return { folder, storage, append, tamper, verify };
}

describe('SQLite', () => describeAudit(openNewDatabase));

describe('an audit log in SQLite', () => {
  it.each([
    ['the last rows are removed', 'DELETE FROM audit WHERE seq > 3'],
    ['the last rows and the head are removed', 'DELETE FROM audit WHERE seq > 3; DELETE FROM audit_ends'],
    [
      'the last rows are removed and the head is put back',
      `DELETE FROM audit WHERE seq > 3;
       UPDATE audit_ends SET seq = 3, hash = (SELECT hash FROM audit WHERE seq = 3)`,
    ],
    ['all rows are removed', 'DELETE FROM audit'],
    [
      'a row is added',
      "INSERT INTO audit VALUES (6, 1, 'f', '{}', (SELECT hash FROM audit WHERE seq = 5), 'x')",
    ],
  ])('where %s shows it, also when it has gone on since (T-197)', async (_what, sql) => {
    const { append, tamper, verify } = await startLog();
    expect(await verify()).toEqual([]);
    tamper(sql);
    expect(await verify()).not.toEqual([]);
    await append('later');
    expect(await verify()).toContain('tampering_noticed');
  });

  it('is one chain where a change that shares the commit is undone with its row', async () => {
    const { storage, append, verify } = await startLog();
    const undone = storage.artifacts.commit([
      { type: 'audit', entry: { at: 1, event: 'undone', details: {} } },
      { type: 'consume', kind: 'RefreshToken', id: 'nobody has it', at: 1 },
    ]);
    await Promise.all([append('one'), undone, append('two')]);
    expect(await undone).toMatchObject({ committed: false });
    expect((await storage.audit.read({ limit: 100 })).map(({ event }) => event).slice(5)).toEqual([
      'one',
      'two',
    ]);
    expect(await verify()).toEqual([]);
  });

  it('is one chain over several processes and restarts', async () => {
    const { folder, append, verify } = await startLog();
    const other = await openDataFolder(folder);
    await Promise.all([
      append('one', 'two'),
      other.storage.audit.append([{ at: 1, event: 'other', details: {} }]),
      append('three'),
    ]);
    await other.storage.close();
    expect(await verify()).toEqual([]);
  });
});
