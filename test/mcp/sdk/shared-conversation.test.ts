import { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { startOneForAll, versions } from './support/one-for-all.ts';
import { makeV2, nothingSeen } from './support/servers.ts';
import { openTalk, startConversations, type Talk } from './support/talk.ts';

const logsOf = ({ heard }: Talk) =>
  heard.filter(({ method }) => method === 'notifications/message').map(({ params }) => params?.data);

describe.each(versions)('one server for all (SDK %s)', (_version, make) => {
  it('keeps a log level for each conversation', async () => {
    const { conversations } = startOneForAll(make);
    const [ann, bob] = await Promise.all([openTalk(conversations), openTalk(conversations)]);
    await ann.ask('logging/setLevel', { level: 'error' });
    await Promise.all([ann, bob].map((talk) => talk.call('log-loosely', { text: 'info' })));
    expect([logsOf(ann), logsOf(bob)]).toEqual([[], ['info']]);
  });

  it('refuses for a client what it did not say it can be asked', async () => {
    const { conversations } = startOneForAll(make);
    await openTalk(conversations, { capabilities: { sampling: {}, elicitation: {}, roots: {} } });
    const bare = await openTalk(conversations);
    expect(await bare.call('sample', { text: 'q' })).toContain('The client does not support sampling.');
    expect(await bare.call('elicit', { mode: 'form' })).toContain('The client does not support elicitation.');
    expect(await bare.call('roots')).toContain('The client does not support roots.');
    const forms = await openTalk(conversations, { capabilities: { elicitation: {} } });
    expect(await forms.call('elicit', { mode: 'url' })).toContain('does not support elicitation by URL.');
    expect([...bare.heard, ...forms.heard].filter(({ method }) => method !== undefined)).toEqual([]);
  });

  it('tells of an updated resource those who subscribed, and unsubscribes when the last one leaves', async () => {
    const { conversations, seen } = startOneForAll(make);
    const [ann, bob, eve] = await Promise.all(
      ['a', 'b', 'e'].map((subject) => openTalk(conversations, { subject })),
    );
    if (!ann || !bob || !eve) throw new Error('three were opened');
    const uri = 'test://shared';
    for (const talk of [ann, bob]) await talk.ask('resources/subscribe', { uri });
    expect((await eve.ask('resources/subscribe', { uri: 'forbidden:x' })).error).toBeDefined();
    await eve.call('update', { uri });
    await eve.call('update', { uri: 'forbidden:x' });
    const updates = (talk: Talk) =>
      talk.heard.filter(({ method }) => method === 'notifications/resources/updated').length;
    expect([ann, bob, eve].map(updates)).toEqual([1, 1, 0]);
    expect((await eve.ask('resources/unsubscribe', { uri })).result).toEqual({});
    expect((await ann.ask('resources/unsubscribe', { uri })).result).toEqual({});
    expect(seen.unsubscribed).toEqual([]);
    await bob.conversation.end();
    await expect.poll(() => seen.unsubscribed, { interval: 1 }).toEqual([uri]);
  });
});

describe('a conversation with a server for all', () => {
  it('answers -32601 for logging and subscriptions it does not declare, as the SDK does', async () => {
    const conversations = startConversations('shared', () => new McpServer({ name: 'x', version: '1' }));
    const talk = await openTalk(conversations);
    for (const method of ['logging/setLevel', 'resources/subscribe', 'resources/unsubscribe'])
      expect((await talk.ask(method, { uri: 'a', level: 'debug' })).error?.code).toBe(-32601);
  });

  it('bounds the subscriptions of a conversation', async () => {
    const seen = nothingSeen();
    const talk = await openTalk(startConversations('shared', () => makeV2(seen)));
    const answers = await Promise.all(
      Array.from({ length: 1001 }, (_, n) => talk.ask('resources/subscribe', { uri: `test://${n}` })),
    );
    expect(answers.filter(({ error }) => error).map(({ error }) => error?.code)).toEqual([-32000]);
    await talk.conversation.end();
    await expect.poll(() => seen.unsubscribed.length, { interval: 5 }).toBe(1000);
  });
});
