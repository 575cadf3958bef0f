import { expect, it } from 'vitest';
import { makeV2, nothingSeen } from './support/servers.ts';
import { openTalk, startConversations } from './support/talk.ts';

it.each([
  ['each', 3],
  ['shared', 1],
  ['single', 1],
] as const)('where servers are %s, three conversations have %i of them', async (sharing, servers) => {
  const seen = nothingSeen();
  const conversations = startConversations(sharing, () => makeV2(seen));
  for (const subject of ['ann', 'bob', 'eve']) {
    const talk = await openTalk(conversations, { subject });
    expect(JSON.parse(String(await talk.call('who')))[0]).toBe(subject);
  }
  expect(seen.made).toBe(servers);
});
