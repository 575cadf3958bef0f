import { setTimeout as pause } from 'node:timers/promises';
import { openSqliteStorage } from '../../../src/storage/sqlite/index.ts';

/**
 * One of several processes that refresh the tokens of one link, as often as they are claimed, until a generation. Writes
 * the generations that it claimed, and takes a moment for each, as an upstream does.
 */
const [file = '', linkId = '', last = '0'] = process.argv.slice(2);
const storage = openSqliteStorage(file);
const { upstreams } = storage;
for (;;) {
  const link = await upstreams.find(linkId);
  if (!link || link.generation >= Number(last)) break;
  const { accountId, upstream, generation } = link;
  if (!(await upstreams.claimRefresh(linkId, generation, link.provedAt, 30))) {
    await pause(1);
    continue;
  }
  process.stdout.write(`${generation}\n`);
  await pause(2);
  const tokens = Buffer.from(`${process.pid} ${generation}`);
  await upstreams.putTokens(linkId, generation, { upstream, accountId, tokens, provedAt: link.provedAt });
}
await storage.close();
