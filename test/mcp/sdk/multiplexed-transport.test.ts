import { McpServer, type Transport } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { InFlightMap } from '../../../src/collections/in-flight-map.ts';
import type { Message } from '../../../src/mcp/protocol.ts';
import { MultiplexedTransport } from '../../../src/mcp/sdk/multiplexed-transport.ts';
import type { PendingCall } from '../../../src/mcp/sdk/participants.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { startOneForAll, versions } from './support/one-for-all.ts';
import { openTalk, startConversations, type Talk } from './support/talk.ts';

const logsOf = ({ heard }: Talk) =>
  heard.filter(({ method }) => method === 'notifications/message').map(({ params }) => params?.data);

describe.each(versions)('one server for all (SDK %s)', (_version, make) => {
  it('keeps 50 conversations apart that all use id 1 and progress token 1 (T-127, T-142)', async () => {
    const { conversations, seen } = startOneForAll(make);
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
  });

  it('attributes what a tool sends without saying for whom, while its call runs', async () => {
    const { conversations } = startOneForAll(make);
    const talks = await Promise.all(
      ['ann', 'bob', 'eve'].map((subject) => openTalk(conversations, { subject })),
    );
    await Promise.all(talks.map((talk, n) => talk.call('log-loosely', { text: `secret ${n}` })));
    expect(talks.map(logsOf)).toEqual([['secret 0'], ['secret 1'], ['secret 2']]);
  });

  it('drops log messages of nobody’s call: they may hold what is another’s (T-127)', async () => {
    const { conversations, seen } = startOneForAll(make);
    const [ann, bob] = await Promise.all([openTalk(conversations), openTalk(conversations)]);
    await ann.call('log-after', { text: 'secret' });
    await (seen.last as unknown as McpServer).server.sendLoggingMessage({ level: 'info', data: 'secret' });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([logsOf(ann), logsOf(bob)]).toEqual([[], []]);
  });

  it('counts an answer to its request only from the conversation it asked (T-128)', async () => {
    const { conversations } = startOneForAll(make);
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

  it('cannot ask a client while no call of it runs', async () => {
    const { conversations, seen } = startOneForAll(make);
    await openTalk(conversations, { capabilities: { roots: {} } });
    const asking = (seen.last as unknown as McpServer).server.listRoots();
    await expect(asking).rejects.toThrow('only be asked while one of its requests runs');
  });

  it('cancels only what is the canceller’s own (T-141)', async () => {
    const { conversations, seen } = startOneForAll(make);
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
});

it('progress that names the token of one call and is said for another reaches neither (T-127)', async () => {
  const asked: { id: number; label: unknown; progressToken: unknown }[] = [];
  let line: Transport | undefined;
  const capabilities = { tools: {} };
  const server = {
    async connect(transport: Transport) {
      line = transport;
      transport.onmessage = (message) => {
        const { id, method, params } = message as Message & { id: number };
        if (id === undefined) return;
        const meta = params?._meta as { progressToken?: unknown } | undefined;
        if (method === 'tools/call')
          asked.push({ id, label: params?.name, progressToken: meta?.progressToken });
        else {
          const serverInfo = { name: 'x', version: '1' };
          const result = { protocolVersion: '2025-11-25', capabilities, serverInfo };
          void transport.send({ jsonrpc: '2.0', id, result });
        }
      };
      await transport.start();
    },
    close: async () => undefined,
  };
  const conversations = startConversations('shared', () => server);
  const [ann, bob] = [
    await openTalk(conversations, { subject: 'ann' }),
    await openTalk(conversations, { subject: 'bob' }),
  ];
  for (const [talk, name] of [
    [ann, 'of ann'],
    [bob, 'of bob'],
  ] as const)
    talk.say({ id: 1, method: 'tools/call', params: { name, arguments: {}, _meta: { progressToken: 1 } } });
  await expect.poll(() => asked.length).toBe(2);
  const [annsCall, bobsCall] = ['of ann', 'of bob'].map((name) => asked.find(({ label }) => label === name));
  const say = (progress: number, relatedRequestId: number | undefined) =>
    line?.send(
      {
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: annsCall?.progressToken as number, progress },
      },
      relatedRequestId === undefined ? {} : { relatedRequestId },
    );
  await say(1, bobsCall?.id);
  await say(2, 999_999);
  await say(3, annsCall?.id);
  const progressOf = ({ heard }: Talk) => heard.map(({ params }) => params?.progress);
  expect([progressOf(ann), progressOf(bob)]).toEqual([[3], []]);
});

describe('memory', () => {
  it('holds of a running call what the log says of it, not its request, which may be large', () => {
    const noop = () => undefined;
    const line = new MultiplexedTransport({ announce: noop, onClose: noop, logger: createLogger('silent') });
    const ann = {
      sessionId: 'a',
      calls: new InFlightMap<number, PendingCall>(),
      hear: noop,
      checkRequest: noop,
    };
    const params = { name: 'echo', arguments: { text: 'x' }, _meta: { progressToken: 1 } };
    const request = { jsonrpc: '2.0' as const, id: 1, method: 'tools/call', params };
    line.call(ann, request, {});
    const [call] = ann.calls.values();
    expect(call).toEqual({
      participant: ann,
      id: 1,
      progressToken: 1,
      asked: { method: 'tools/call', name: 'echo' },
      serverId: 1,
      isRunning: true,
    });
  });

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
  });
});
