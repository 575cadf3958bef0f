import { openSqliteStorage } from '../../../src/storage/sqlite/index.ts';
import { account } from '../contract/subject.ts';
import { putBound } from '../contract/upstream.ts';

/**
 * Writes accounts whose grants hang on upstreams, takes every second grant back, and lets go of the tokens. Says each step
 * once it is durable, and goes on until it is killed.
 */
const [file = '', round = ''] = process.argv.slice(2);
const storage = openSqliteStorage(file);
for (let n = 0; ; n++) {
  const id = `${round}-${n}`;
  await putBound(storage, id);
  process.stdout.write(`bound ${id}\n`);
  if (n % 2 === 0) continue;
  const [, released] = await Promise.all([
    storage.artifacts.revokeGrant(`grant of ${id}`).then(() => process.stdout.write(`revoked ${id}\n`)),
    storage.upstreams.releaseUnheld(account(id).createdAt),
  ]);
  if (released > 0) process.stdout.write(`released ${released}\n`);
}
