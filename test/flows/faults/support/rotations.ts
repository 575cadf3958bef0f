// Rotates refresh tokens and revokes grants in a database, and writes down each one that was acknowledged.
import { openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../../../../src/storage/sqlite/connection/open.ts';
import { createRowCache, watchDataVersion } from '../../../../src/storage/sqlite/connection/row-cache.ts';
import { createWriter } from '../../../../src/storage/sqlite/connection/writer.ts';
import { createArtifactStore } from '../../../../src/storage/sqlite/stores/artifacts.ts';
import { createAuditStore } from '../../../../src/storage/sqlite/stores/audit.ts';

const [folder = '', synchronous = 'FULL', count = '100'] = process.argv.slice(2);
const db = openDatabase(join(folder, 'gatehouse.db'));
db.pragma(`synchronous = ${synchronous}`);
const writer = createWriter(db);
const { appendWithin } = createAuditStore(db, writer, { audit: 'a key for the chain' });
const foreignCommits = watchDataVersion(db);
const store = createArtifactStore(db, writer, {
  appendAudit: appendWithin,
  cacheRows: createRowCache(db, foreignCommits),
  foreignCommits,
});
db.exec(
  "INSERT INTO accounts (id, email, password_hash, created_at) VALUES ('ann', 'ann@example.com', 'x', 1)",
);
const expiresAt = 9_999_999_999;
const payload = Buffer.alloc(400, 'x');
const refreshToken = (step: number) =>
  ({ type: 'put', kind: 'RefreshToken', id: `r${step}`, grantId: 'g', payload, expiresAt }) as const;
const grant = (id: string) =>
  ({ type: 'putGrant', id, at: 1, accountId: 'ann', clientId: 'c', payload, expiresAt }) as const;
await store.commit([grant('g'), refreshToken(0)]);
db.pragma('wal_checkpoint(TRUNCATE)');

const acknowledgements = openSync(join(folder, 'acknowledged'), 'a');
const acknowledge = (what: string): void => void writeSync(acknowledgements, `${what}\n`);
acknowledge('begin');
for (let step = 0; step < Number(count); step++) {
  const rotated = store
    .commit([
      { type: 'consume', kind: 'RefreshToken', id: `r${step}`, at: 1 },
      refreshToken(step + 1),
      { type: 'put', kind: 'AccessToken', id: `a${step}`, grantId: 'g', payload, expiresAt },
    ])
    .then(() => acknowledge(`rotated ${step}`));
  const revoked =
    step % 5 === 4
      ? store.revokeGrant(`g${step - 1}`).then(() => acknowledge(`revoked ${step - 1}`))
      : store.commit([grant(`g${step}`)]);
  await Promise.all([rotated, revoked]);
}
