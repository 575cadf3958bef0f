import { describe, expect, it } from 'vitest';
import { makeV1, makeV2, nothingSeen } from './support/servers.ts';
import { openTalk, startConversations, type TalkOptions } from './support/talk.ts';

const all = { sampling: {}, roots: {}, elicitation: { form: {}, url: {} } };
const forms = [
  ['each', 'v2', makeV2],
  ['each', 'v1', makeV1],
  ['shared', 'v2', makeV2],
  ['shared', 'v1', makeV1],
  ['single', 'v2', makeV2],
  ['single', 'v1', makeV1],
] as const;

describe.each(forms)('a conversation (%s server, SDK %s)', (sharing, version, make) => {
  const start = async (options: TalkOptions = {}) => {
    const seen = nothingSeen();
    const ready = sharing === 'single' ? make(seen) : undefined;
    const conversations = startConversations(sharing, () => ready ?? make(seen));
    return { seen, conversations, ann: await openTalk(conversations, { capabilities: all, ...options }) };
  };

  it('begins with the answer of the server, in the revision of the client (C1-03)', async () => {
    const { conversations, ann } = await start({ protocolVersion: '2025-03-26' });
    expect(ann.result).toMatchObject({
      protocolVersion: '2025-03-26',
      serverInfo: { name: version },
      capabilities: { tools: {}, resources: { subscribe: true }, logging: {} },
    });
    const bob = await openTalk(conversations, { protocolVersion: '2024-11-05' });
    expect(bob.result.protocolVersion).toBe('2024-11-05');
    const eve = await openTalk(conversations, { protocolVersion: '__proto__' });
    expect(eve.result.protocolVersion).toBe('2025-11-25');
  });

  it('calls tools, and the tool knows who calls, without credentials (T-105)', async () => {
    const headers = { 'x-test': 'yes' };
    const { ann, conversations } = await start({
      sender: { request: () => new Request('http://h/', { headers }) },
    });
    expect(await ann.call('echo', { text: 'hi' })).toBe('hi');
    const [subject, header, authorization, sessionId] = JSON.parse(String(await ann.call('who')));
    expect([subject, header, authorization]).toEqual(['ann', 'yes', null]);
    const bob = await openTalk(conversations, { subject: 'bob' });
    const [other, , , otherSession] = JSON.parse(String(await bob.call('who')));
    expect(other).toBe('bob');
    expect(new Set([sessionId, otherSession, undefined]).size).toBe(3);
  });

  it('lists and reads resources, gets and completes prompts', async () => {
    const { ann } = await start();
    const read = await ann.ask('resources/read', { uri: 'test://greeting' });
    expect(read.result?.contents).toMatchObject([{ text: 'hello' }]);
    const prompt = await ann.ask('prompts/get', { name: 'review', arguments: { language: 'c' } });
    expect(JSON.stringify(prompt.result)).toContain('Review c');
    const ref = { type: 'ref/prompt', name: 'review' };
    const completed = await ann.ask('completion/complete', {
      ref,
      argument: { name: 'language', value: 't' },
    });
    expect(completed.result).toMatchObject({ completion: { values: ['typescript', 'python'] } });
    expect((await ann.ask('tools/list')).result?.tools).toContainEqual(
      expect.objectContaining({ name: 'echo' }),
    );
  });

  it('answers ping, and refuses a second initialize', async () => {
    const { ann } = await start();
    expect((await ann.ask('ping')).result).toEqual({});
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    };
    expect((await ann.ask('initialize', params)).error).toMatchObject({ code: -32600 });
  });

  it('passes progress and logs on, related to their request, with the token the client chose', async () => {
    const { ann } = await start();
    await ann.call('steps', { label: 'x', count: '2' }, { progressToken: '__proto__' });
    const progress = ann.heard.filter(({ method }) => method === 'notifications/progress');
    expect(
      progress.map(({ params, relatedTo }) => [params?.progressToken, params?.progress, relatedTo]),
    ).toEqual([
      ['__proto__', 1, 1],
      ['__proto__', 2, 1],
    ]);
    const logs = ann.heard.filter(({ method }) => method === 'notifications/message');
    expect(logs.map(({ relatedTo }) => relatedTo)).toEqual([1, 1]);
  });

  it('sends log messages from the level the client sets, and knows no other than the eight (C6-04)', async () => {
    const { ann } = await start();
    expect((await ann.ask('logging/setLevel', { level: 'warning' })).result).toEqual({});
    await ann.call('steps', { label: 'quiet', count: '1' });
    await ann.call('log-loosely', { text: 'quiet' });
    expect((await ann.ask('logging/setLevel', { level: 'toString' })).error?.code).toBe(-32602);
    await ann.ask('logging/setLevel', { level: 'debug' });
    await ann.call('log-loosely', { text: 'loud' });
    const logs = ann.heard.filter(({ method }) => method === 'notifications/message');
    expect(logs.map(({ params }) => params?.data)).toEqual(['loud']);
  });

  it.each(['sample', 'sample-loosely'])('asks the client during %s, and takes its answer', async (tool) => {
    const { ann } = await start();
    const answer = ann.call(tool, { text: 'why?' });
    const request = await ann.hears(({ method }) => method === 'sampling/createMessage');
    expect(request.relatedTo).toBe(1);
    expect(JSON.stringify(request.params)).toContain('why?');
    const result = { role: 'assistant', model: 'm', content: { type: 'text', text: 'because' } };
    ann.say({ id: request.id, result });
    expect(await answer).toContain('because');
  });

  it('asks for forms, visits and roots', async () => {
    const { ann } = await start();
    const byForm = ann.call('elicit', { mode: 'form' });
    const asked = await ann.hears(
      ({ method, params }) => method === 'elicitation/create' && params?.mode === 'form',
    );
    ann.say({ id: asked.id, result: { action: 'accept', content: { which: 'that' } } });
    expect(await byForm).toBe('["accept",{"which":"that"}]');
    const byUrl = ann.call('elicit', { mode: 'url' });
    const visit = await ann.hears(({ params }) => params?.elicitationId === 'e-1');
    ann.say({ id: visit.id, result: { action: 'accept' } });
    expect(await byUrl).toContain('accept');
    const roots = ann.call('roots');
    const listed = await ann.hears(({ method }) => method === 'roots/list');
    ann.say({ id: listed.id, result: { roots: [{ uri: 'file:///a' }] } });
    expect(await roots).toBe('file:///a');
  });

  it('cancels its own running request, and hears nothing more of it (T-141)', async () => {
    const { ann, seen } = await start();
    ann.say({ id: 'w', method: 'tools/call', params: { name: 'wait', arguments: { label: 'a' } } });
    ann.say({ method: 'notifications/cancelled', params: { requestId: 'unknown' } });
    ann.say({ method: 'notifications/cancelled', params: { requestId: 'w', reason: 'enough' } });
    await expect.poll(() => seen.aborted, { interval: 1 }).toEqual(['a']);
    ann.say({ method: 'notifications/cancelled', params: { requestId: 'w' } });
    await ann.call('echo', { text: 'after' });
    expect(ann.heard.map(({ id }) => id)).toEqual([1]);
  });

  it('tells 1 from "1", and takes prototype names for ids, methods and tools as any other (T-137, T-142)', async () => {
    const { ann } = await start();
    const [number, string] = await Promise.all([
      ann.ask('tools/call', { name: 'echo', arguments: { text: 'number' } }, 1),
      ann.ask('tools/call', { name: 'echo', arguments: { text: 'string' } }, '1'),
    ]);
    expect([number, string].map(({ result }) => JSON.stringify(result))).toEqual([
      expect.stringContaining('"number"'),
      expect.stringContaining('"string"'),
    ]);
    const odd = await ann.ask('constructor', {}, '__proto__');
    expect(odd).toMatchObject({ id: '__proto__', error: { code: -32601 } });
    expect(await ann.ask('tools/call', { name: 'toString' }, 'constructor')).toMatchObject({
      id: 'constructor',
    });
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('drops answers and progress nobody waits for', async () => {
    const { ann } = await start();
    for (const id of [0, 1, '0', 'x', '__proto__']) {
      ann.say({ id, result: {} });
      ann.say({ method: 'notifications/progress', params: { progressToken: id, progress: 1 } });
    }
    expect(await ann.call('echo', { text: 'alive' })).toBe('alive');
  });

  it('tells of changed lists, related to no request', async () => {
    const { ann } = await start();
    await ann.call('grow', { name: 'sprout' });
    const changed = await ann.hears(({ method }) => method === 'notifications/tools/list_changed');
    expect(changed.relatedTo).toBeUndefined();
    expect(await ann.call('sprout')).toBe('sprout');
  });

  it('tells of updates of the resources it subscribed to', async () => {
    const { ann, seen } = await start();
    expect((await ann.ask('resources/subscribe', { uri: 'test://a' })).result).toEqual({});
    await ann.call('update', { uri: 'test://a' });
    await ann.hears(({ method }) => method === 'notifications/resources/updated');
    await ann.ask('resources/unsubscribe', { uri: 'test://a' });
    expect([seen.subscribed, seen.unsubscribed]).toEqual([['test://a'], ['test://a']]);
  });

  it('hears nothing after it ended, and its running requests are cancelled', async () => {
    const { ann, seen } = await start();
    ann.say({ id: 'w', method: 'tools/call', params: { name: 'wait', arguments: { label: 'b' } } });
    await ann.call('echo', { text: 'x' });
    const before = ann.heard.length;
    await ann.conversation.end();
    await ann.conversation.end();
    await expect.poll(() => seen.aborted, { interval: 1 }).toEqual(['b']);
    ann.say({ id: 9, method: 'ping' });
    expect([ann.heard.length, ann.hasEnded()]).toEqual([before, false]);
  });

  it('is told when the server closes, after its requests were answered with an error', async () => {
    const { ann } = await start();
    ann.say({ id: 'w', method: 'tools/call', params: { name: 'wait', arguments: { label: 'c' } } });
    ann.say({ id: 'b', method: 'tools/call', params: { name: 'break', arguments: {} } });
    await expect.poll(ann.hasEnded, { interval: 1 }).toBe(true);
    expect(ann.heard.map(({ id, error }) => [id, error?.code])).toEqual([
      ['w', -32603],
      ['b', -32603],
    ]);
  });
});
