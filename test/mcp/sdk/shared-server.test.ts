import { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it, vi } from 'vitest';
import { startOneForAll, versions } from './support/one-for-all.ts';
import { openTalk, startConversations } from './support/talk.ts';

describe.each(versions)('one server for all (SDK %s)', (_version, make) => {
  it('tells of changed lists all conversations that are initialized', async () => {
    const { conversations } = startOneForAll(make);
    const talks = await Promise.all(['ann', 'bob'].map((subject) => openTalk(conversations, { subject })));
    const early: unknown[] = [];
    const clientInfo = { name: 'test', version: '1.0.0' };
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
    const listener = { hear: (message: unknown) => early.push(message), ended: () => undefined };
    await conversations.open(params, {}, listener);
    await talks[0]?.call('grow', { name: 'sprout' });
    const changed = talks.map(({ hears }) =>
      hears(({ method }) => method === 'notifications/tools/list_changed'),
    );
    expect((await Promise.all(changed)).length).toBe(2);
    expect(early).toEqual([]);
  });

  it('tells of the end of a visit the client that was sent to it, only', async () => {
    const { conversations } = startOneForAll(make);
    const capabilities = { elicitation: { url: {} } };
    const ann = await openTalk(conversations, { capabilities });
    const eve = await openTalk(conversations, { capabilities });
    const visiting = ann.call('elicit', { mode: 'url' });
    const visit = await ann.hears(({ method }) => method === 'elicitation/create');
    ann.say({ id: visit.id, result: { action: 'accept' } });
    await visiting;
    await eve.call('complete', { id: 'e-1' });
    await ann.hears(({ method }) => method === 'notifications/elicitation/complete');
    expect(eve.heard.filter(({ method }) => method !== undefined)).toEqual([]);
  });
});

describe('a server for all', () => {
  it('narrows the revisions to those it says it speaks', async () => {
    const supportedProtocolVersions = ['2025-06-18', '2025-03-26'];
    const conversations = startConversations(
      'shared',
      () => new McpServer({ name: 'x', version: '1' }, { supportedProtocolVersions }),
    );
    const versionFor = async (protocolVersion: string) =>
      (await openTalk(conversations, { protocolVersion })).result.protocolVersion;
    expect(await versionFor('2025-03-26')).toBe('2025-03-26');
    expect(await versionFor('2024-11-05')).toBe('2025-06-18');
  });

  it.each(['shared', 'each'] as const)(
    'that is %s and speaks none that is served is refused',
    async (sharing) => {
      const seen = vi.fn();
      const conversations = startConversations(sharing, () => {
        const supportedProtocolVersions = ['2024-10-07'];
        const server = new McpServer({ name: 'x', version: '1' }, { supportedProtocolVersions });
        server.server.onclose = seen;
        return server;
      });
      await expect(openTalk(conversations)).rejects.toThrow('no protocol revision that is served here');
      expect(seen).toHaveBeenCalledOnce();
    },
  );
});
