import { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { makeV1, makeV2, nothingSeen, type Seen } from './support/servers.ts';
import { openTalk, startConversations, type Talk } from './support/talk.ts';

/** Covers src/mcp/conversations/shared.ts, shared-server.ts, shared-conversation.ts and server-line.ts. */
const versions = [
  ['v2', makeV2],
  ['v1', makeV1],
] as const;

const start = (make: (seen: Seen) => unknown) => {
  const seen = nothingSeen();
  return { seen, conversations: startConversations('shared', () => make(seen)) };
};
const logsOf = ({ heard }: Talk) =>
  heard.filter(({ method }) => method === 'notifications/message').map(({ params }) => params?.data);

describe.each(versions)('one server for all (SDK %s)', (_version, make) => {
  it('keeps 50 conversations apart that all use id 1 and progress token 1 (T-127, T-142)', async () => {
    const { conversations, seen } = start(make);
    const talks = await Promise.all(
      Array.from({ length: 50 }, (_, n) => openTalk(conversations, { subject: `user-${n}` })),
    );
    let wrong = 0;
    let calls = 0;
    const converse = async (talk: Talk, name: string): Promise<void> => {
      for (let round = 0; round < 200; round++) {
        talk.heard.length = 0;
        const label = `${name}-${round}`;
        const params = { name: 'steps', arguments: { label, count: '1' }, _meta: { progressToken: 1 } };
        const answer = await talk.ask('tools/call', params, 1);
        const texts = [answer.result?.content, ...talk.heard.map(({ params: said }) => said)].filter(Boolean);
        if (!texts.every((text) => JSON.stringify(text).includes(`"${label}"`))) wrong++;
        if (talk.heard.length !== 3 || talk.heard.some(({ id, relatedTo }) => (id ?? relatedTo) !== 1))
          wrong++;
        if (!talk.heard.every(({ params: said }) => (said?.progressToken ?? 1) === 1)) wrong++;
        calls++;
      }
    };
    await Promise.all(talks.map((talk, n) => converse(talk, `user-${n}`)));
    expect([calls, wrong, seen.made]).toEqual([10_000, 0, 1]);
  }, 60_000);

  it('attributes what a tool sends without saying for whom, while its call runs', async () => {
    const { conversations } = start(make);
    const talks = await Promise.all(
      ['ann', 'bob', 'eve'].map((subject) => openTalk(conversations, { subject })),
    );
    await Promise.all(talks.map((talk, n) => talk.call('log-loosely', { text: `secret ${n}` })));
    expect(talks.map(logsOf)).toEqual([['secret 0'], ['secret 1'], ['secret 2']]);
  });

  it('drops log messages of nobody’s call: they may hold what is another’s (T-127)', async () => {
    const { conversations, seen } = start(make);
    const [ann, bob] = await Promise.all([openTalk(conversations), openTalk(conversations)]);
    await ann.call('log-after', { text: 'secret' });
    await (seen.last as unknown as McpServer).server.sendLoggingMessage({ level: 'info', data: 'secret' });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([logsOf(ann), logsOf(bob)]).toEqual([[], []]);
  });

  it('keeps a log level for each conversation', async () => {
    const { conversations } = start(make);
    const [ann, bob] = await Promise.all([openTalk(conversations), openTalk(conversations)]);
    await ann.ask('logging/setLevel', { level: 'error' });
    await Promise.all([ann, bob].map((talk) => talk.call('log-loosely', { text: 'info' })));
    expect([logsOf(ann), logsOf(bob)]).toEqual([[], ['info']]);
  });

  it('counts an answer to its request only from the conversation it asked (T-128)', async () => {
    const { conversations } = start(make);
    const capabilities = { sampling: {} };
    const ann = await openTalk(conversations, { capabilities });
    const eve = await openTalk(conversations, { capabilities });
    const answer = ann.call('sample', { text: 'q' });
    const request = await ann.hears(({ method }) => method === 'sampling/createMessage');
    const result = (text: string) => ({ role: 'assistant', model: 'm', content: { type: 'text', text } });
    for (const id of [request.id, ...Array.from({ length: 101 }, (_, n) => n), '0', '1'])
      eve.say({ id, result: result('forged') });
    for (let id = 0; id < 100; id++) ann.say({ id, result: result('guessed') });
    ann.say({ id: request.id, result: result('mine') });
    expect(await answer).toContain('mine');
    expect(eve.heard).toEqual([]);
  });

  it('refuses for a client what it did not say it can be asked', async () => {
    const { conversations } = start(make);
    await openTalk(conversations, { capabilities: { sampling: {}, elicitation: {}, roots: {} } });
    const bare = await openTalk(conversations);
    expect(await bare.call('sample', { text: 'q' })).toContain('The client does not support sampling.');
    expect(await bare.call('elicit', { mode: 'form' })).toContain('The client does not support elicitation.');
    expect(await bare.call('roots')).toContain('The client does not support roots.');
    const forms = await openTalk(conversations, { capabilities: { elicitation: {} } });
    expect(await forms.call('elicit', { mode: 'url' })).toContain('does not support elicitation by URL.');
    expect([...bare.heard, ...forms.heard].filter(({ method }) => method !== undefined)).toEqual([]);
  });

  it('cannot ask a client while no call of it runs', async () => {
    const { conversations, seen } = start(make);
    await openTalk(conversations, { capabilities: { roots: {} } });
    const asking = (seen.last as unknown as McpServer).server.listRoots();
    await expect(asking).rejects.toThrow('only be asked while one of its requests runs');
  });

  it('cancels only what is the canceller’s own (T-141)', async () => {
    const { conversations, seen } = start(make);
    const [ann, eve] = await Promise.all([openTalk(conversations), openTalk(conversations)]);
    ann.say({ id: 1, method: 'tools/call', params: { name: 'wait', arguments: { label: 'ann' } } });
    for (let requestId = 0; requestId < 50; requestId++)
      eve.say({ method: 'notifications/cancelled', params: { requestId } });
    await eve.call('echo', { text: 'x' });
    expect(seen.aborted).toEqual([]);
    ann.say({ method: 'notifications/cancelled', params: { requestId: 1 } });
    await expect.poll(() => seen.aborted, { interval: 1 }).toEqual(['ann']);
    expect([ann.heard, logsOf(eve)]).toEqual([[], []]);
  });

  it('tells of an updated resource those who subscribed, and unsubscribes when the last one leaves', async () => {
    const { conversations, seen } = start(make);
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

  it('tells of changed lists all conversations that are initialized', async () => {
    const { conversations } = start(make);
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
    const { conversations } = start(make);
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

  it('is made again after it closed', async () => {
    const { conversations, seen } = start(make);
    const [ann, bob] = await Promise.all([openTalk(conversations), openTalk(conversations)]);
    void ann.call('break').catch(() => undefined);
    await expect.poll(() => [ann.hasEnded(), bob.hasEnded()], { interval: 1 }).toEqual([true, true]);
    const again = await openTalk(conversations);
    expect([await again.call('echo', { text: 'back' }), seen.made]).toEqual(['back', 2]);
  });

  it('is closed with all its conversations, which hear nothing of it', async () => {
    const { conversations, seen } = start(make);
    const ann = await openTalk(conversations);
    await conversations.close();
    expect([seen.closed, ann.hasEnded(), ann.heard]).toEqual([1, false, []]);
  });
});

describe('what a factory of a shared server gives', () => {
  it('has its failure told to who opens, and is asked again', async () => {
    let tries = 0;
    const conversations = startConversations('shared', () => {
      tries++;
      if (tries === 1) throw new Error('no database');
      return makeV2(nothingSeen());
    });
    await expect(openTalk(conversations)).rejects.toThrow('no database');
    expect(await (await openTalk(conversations)).call('echo', { text: 'x' })).toBe('x');
  });

  it('is refused where it is no MCP server', async () => {
    await expect(openTalk(startConversations('shared', () => ({ connect() {} })))).rejects.toThrow(
      'no MCP server',
    );
  });

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

describe('a server that was brought ready-made', () => {
  it('is connected once, and cannot be made again after it closed', async () => {
    const server = makeV2(nothingSeen());
    const conversations = startConversations('single', () => server);
    const ann = await openTalk(conversations);
    await openTalk(conversations);
    await server.close();
    expect(ann.hasEnded()).toBe(true);
    await expect(openTalk(conversations)).rejects.toThrow('cannot be made again');
  });

  it.each(versions)('says what to do where it is connected already (SDK %s)', async (_version, make) => {
    const server = make(nothingSeen());
    await openTalk(startConversations('single', () => server));
    await expect(openTalk(startConversations('single', () => server))).rejects.toThrow(
      'connected to another transport already. Bring one that is not connected',
    );
  });
});

describe('memory', () => {
  it('does not grow with calls, asked questions and conversations that end', async () => {
    const server = new McpServer({ name: 'x', version: '1' });
    server.registerTool('echo', { inputSchema: z.object({}) }, () => ({ content: [] }));
    const conversations = startConversations('shared', () => server);
    const talk = await openTalk(conversations);
    const batch = async (calls: number): Promise<void> => {
      for (let done = 0; done < calls; done += 100) {
        for (let n = 0; n < 100; n++)
          talk.say({
            id: n,
            method: 'tools/call',
            params: { name: 'echo', arguments: {}, _meta: { progressToken: n } },
          });
        while (talk.heard.length < 100) await new Promise((resolve) => setImmediate(resolve));
        talk.heard.length = 0;
      }
    };
    const line = server.server.transport as unknown as { pending: number };
    await batch(100_000);
    expect(line.pending).toBe(0);
  }, 60_000);
});
