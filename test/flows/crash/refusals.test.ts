// Flows of src/authorization-server/audit.ts and src/authorization-server/audit-tally.ts.

import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, it, onTestFinished, vi } from 'vitest';
import { testFolderForFile } from '../../support/folder.ts';
import { refresh } from '../../support/oauth.ts';
import { runGatehouse } from '../../support/served.ts';
import { startRestartable } from './served.ts';

const folder = testFolderForFile();

/** What the audit log has of an event. */
function rowsOf(event: string): Record<string, string>[] {
  const database = new Database(join(folder, 'gatehouse.db'), { readonly: true });
  try {
    const rows = database
      .prepare('SELECT details FROM audit WHERE event = ? ORDER BY seq')
      .pluck()
      .all(event);
    return (rows as string[]).map((details) => JSON.parse(details) as Record<string, string>);
  } finally {
    database.close();
  }
}

it('who is let into nothing fills no audit log: of a flood it has the first, and at a clean stop the number (T-197)', async () => {
  const served = await startRestartable(folder);
  onTestFinished(() => served.stop());
  const guess = async (clientId: string) => (await refresh(served.at.url, clientId, 'a guess')).text();
  for (let n = 0; n < 200; n++) await guess('nobody');
  for (let n = 0; n < 100; n++) await guess(`https://127.0.0.1/${n}`);
  await vi.waitFor(() => expect(rowsOf('client.document_refused')).not.toEqual([]));
  const [first, ...more] = rowsOf('token.refused').filter(({ reason }) => reason === 'client not found');
  expect(first).toMatchObject({
    address: '127.0.0.1',
    error: 'invalid_client',
    requestId: expect.anything(),
  });
  expect(more).toEqual([]);

  served.program().process.kill('SIGTERM');
  expect(await served.program().ended).toBe(0);
  expect(rowsOf('token.refused')).toContainEqual({
    address: '127.0.0.1',
    error: 'invalid_client',
    reason: 'client not found',
    times: '199',
  });
  const documents = rowsOf('client.document_refused');
  expect(documents[0]).toMatchObject({ clientId: 'https://127.0.0.1/0' });
  expect(documents).toContainEqual(expect.objectContaining({ clientHost: '127.0.0.1', others: 'true' }));
  const kinds = new Set(documents.map(({ reason }) => reason));
  expect(documents.length).toBeLessThanOrEqual(2 * kinds.size);
  const counted = documents.map(({ times = '1' }) => Number(times));
  expect(counted.reduce((sum, times) => sum + times)).toBe(100);
  expect((await runGatehouse(['audit', 'verify', '--data', folder])).code).toBe(0);
});
