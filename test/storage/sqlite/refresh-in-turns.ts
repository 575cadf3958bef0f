import { setTimeout as pause } from 'node:timers/promises';
import { openSqliteStorage } from '../../../src/storage/sqlite/index.ts';

/**
 * One of several processes that refresh the tokens of one link, as often as they are claimed, until a generation. Writes
 * the generations that it refreshed.
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
  const tokens = Buffer.from(`${process.pid} ${generation}`);
  if (await upstreams.putTokens(linkId, generation, { upstream, accountId, tokens, provedAt: link.provedAt }))
    process.stdout.write(`${generation}\n`);
}
await storage.close();
