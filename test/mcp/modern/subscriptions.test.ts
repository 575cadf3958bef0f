import { describe, expect, it, vi } from 'vitest';
import { createCallLimit, createStreamLimit } from '../../../src/mcp/http/limits.ts';
import type { ServerSource } from '../../../src/mcp/protocol.ts';
import { principalKey } from '../../../src/oauth/auth-info.ts';
import { modernRequest, type RpcAnswer, readAnswer, readAnswers } from '../support/gate.ts';
import {
  createTestServer,
  type ModernEndpoint,
  oneServer,
  serverEach,
  startModern,
} from '../support/modern-endpoint.ts';
import { addTools } from '../support/modern-tools.ts';
import { linkRelays } from '../support/relays.ts';

interface Heard extends RpcAnswer {
  method?: string;
  params?: Record<string, unknown>;
}

const everything = {
  toolsListChanged: true,
  promptsListChanged: true,
  resourcesListChanged: true,
  resourceSubscriptions: ['test://a'],
};

/** Opens a stream and gathers what comes on it. */
async function listen(endpoint: ModernEndpoint, subject: string, notifications: object, id = 1) {
  const leaving = new AbortController();
  const request = modernRequest('subscriptions/listen', { notifications }, id);
  const response = await endpoint.send(subject, { ...request, signal: leaving.signal });
  const heard: Heard[] = [];
  const ended = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? [])
      for (const line of decoder.decode(chunk).split('\n'))
        if (line.startsWith('data: ')) heard.push(JSON.parse(line.slice('data: '.length)));
  })();
  ended.catch(() => undefined);
  await vi.waitFor(() => expect(heard.length).toBeGreaterThan(0));
  return { response, heard, ended, leave: () => leaving.abort() };
}

const change = (endpoint: ModernEndpoint, subject: string, uri = 'test://a') =>
  endpoint.call(subject, 'tools/call', { name: 'change', arguments: { uri } });
const methodsOf = (heard: Heard[]) => heard.map(({ method }) => method?.replace('notifications/', ''));
const seen = { started: [], aborted: [], finished: [] };
const shared = oneServer((server) => addTools(server, seen));
const each = serverEach((server) => addTools(server, seen));

describe.each([
  ['one server for all', shared],
  ['a server each', each],
])('listening to %s', (_kind, source) => {
  it('begins with what is honoured, and hears what it asked for and nothing else, under its id (C5-01)', async () => {
    const endpoint = await startModern(source);
    const all = await listen(endpoint, 'ann', everything, 41);
    const prompts = await listen(endpoint, 'ann', { promptsListChanged: true });
    expect(all.response.headers.get('content-type')).toBe('text/event-stream');
    expect(all.heard[0]).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: everything },
    });
    await change(endpoint, 'ann');
    await vi.waitFor(() =>
      expect(methodsOf(all.heard)).toEqual([
        'subscriptions/acknowledged',
        'tools/list_changed',
        'resources/updated',
      ]),
    );
    for (const { params } of all.heard)
      expect(params).toMatchObject({ _meta: { 'io.modelcontextprotocol/subscriptionId': 41 } });
    await change(endpoint, 'ann', 'test://b');
    await vi.waitFor(() => expect(all.heard).toHaveLength(4));
    expect(prompts.heard).toHaveLength(1);
  });

  it('ends with its result at once where nothing is honoured, and when the endpoint closes (C5-02)', async () => {
    const endpoint = await startModern(source);
    const none = await endpoint.call('ann', 'subscriptions/listen', { notifications: {} }, 5);
    const result = { resultType: 'complete', _meta: { 'io.modelcontextprotocol/subscriptionId': 5 } };
    expect(await readAnswers(none)).toMatchObject([{ params: { notifications: {} } }, { id: 5, result }]);
    const stream = await listen(endpoint, 'ann', everything, 6);
    await endpoint.close();
    await stream.ended;
    expect(stream.heard.at(-1)).toMatchObject({
      id: 6,
      result: { _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'test' } } },
    });
  });

  it('serves the client of the SDK', async () => {
    const endpoint = await startModern(source);
    const changed = vi.fn();
    const client = await endpoint.connect('ann', {
      listChanged: { tools: { onChanged: changed, debounceMs: 0 } },
    });
    await change(endpoint, 'bob');
    await vi.waitFor(() => expect(changed).toHaveBeenCalled());
    await client.close();
  });
});

describe('listening', () => {
  it('to a server each does not tell an account of the data of another, but of lists (T-127)', async () => {
    const endpoint = await startModern(each);
    const ann = await listen(endpoint, 'ann', everything);
    const bob = await listen(endpoint, 'bob', everything);
    await change(endpoint, 'ann');
    await vi.waitFor(() => expect(ann.heard).toHaveLength(3));
    expect(methodsOf(bob.heard)).toEqual(['subscriptions/acknowledged', 'tools/list_changed']);
  });

  it('is so much to a principal and so much in all, and leaving makes room (T-145)', async () => {
    const endpoint = await startModern(shared, { streams: createStreamLimit(2, 3) });
    const first = await listen(endpoint, 'ann', everything);
    await listen(endpoint, 'ann', everything);
    const refused = await endpoint.call('ann', 'subscriptions/listen', { notifications: everything }, 8);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
    expect(await readAnswer(refused)).toMatchObject({ id: 8, error: { code: -32000 } });
    await listen(endpoint, 'bob', everything);
    const full = await endpoint.call('carl', 'subscriptions/listen', { notifications: everything });
    expect([full.status, full.headers.get('retry-after')]).toEqual([503, '60']);
    await full.text();
    first.leave();
    await vi.waitFor(async () => {
      const leaving = new AbortController();
      const request = modernRequest('subscriptions/listen', { notifications: everything });
      const { status } = await endpoint.send('ann', { ...request, signal: leaving.signal });
      leaving.abort();
      expect(status).toBe(200);
    });
  });

  it('is counted with the streams of other transports', async () => {
    const streams = createStreamLimit(1, 3);
    const endpoint = await startModern(shared, { streams });
    await listen(endpoint, 'ann', everything);
    const issuer = 'https://example.com';
    const ann = principalKey({ issuer, subject: 'ann', clientId: 'client-1' });
    expect(streams.begin(ann)).toMatchObject({ reason: 'too_many_streams' });
  });

  it('counts as a call while a server is made to say what there is to listen to (T-144)', async () => {
    const making = Promise.withResolvers<void>();
    let made = 0;
    const source: ServerSource = {
      sharing: 'each',
      async create() {
        made++;
        await making.promise;
        return createTestServer((server) => addTools(server, seen));
      },
    };
    const endpoint = await startModern(source, {
      calls: createCallLimit(2),
      streams: createStreamLimit(1, 9),
    });
    const refused: Response[] = [];
    const asked = Array.from({ length: 10 }, async (_, id) => {
      const response = await endpoint.call('ann', 'subscriptions/listen', { notifications: everything }, id);
      if (response.status !== 200) refused.push(response);
    });
    await vi.waitFor(() => expect([made, refused.length]).toEqual([2, 8]));
    for (const response of refused)
      expect((await readAnswer(response)).error?.message).toContain('Too many calls');
    making.resolve();
    await Promise.all(asked);
    expect([made, refused.length]).toEqual([2, 9]);
    const later = await endpoint.call('ann', 'subscriptions/listen', { notifications: everything });
    expect((await readAnswer(later)).error?.message).toContain('streams');
  });

  it('ends when the access of the caller ends (A12-04)', async () => {
    const endpoint = await startModern(shared);
    const stream = await listen(endpoint, 'ann', everything);
    endpoint.revoke('ann');
    await stream.ended;
    expect(stream.heard.at(-1)?.result).toMatchObject({ resultType: 'complete' });
  });

  it('wants to know to what', async () => {
    const endpoint = await startModern(shared);
    const response = await endpoint.call('ann', 'subscriptions/listen', {});
    expect((await readAnswer(response)).error?.code).toBe(-32602);
  });
});

describe('listeners of two nodes', () => {
  async function startTwo(source: ServerSource) {
    const relays = linkRelays();
    const here = await startModern(source, { relay: relays.here });
    const there = await startModern(source, { relay: relays.there });
    return { ...relays, here, there };
  }

  it('hear the same changes, each once, and data of an account only its own clients (T-145)', async () => {
    const { here, there, told } = await startTwo(each);
    const listeners = await Promise.all([
      listen(here, 'ann', everything),
      listen(there, 'ann', everything),
      listen(there, 'bob', everything),
    ]);
    await change(here, 'ann');
    const [own, other, foreign] = listeners;
    const all = ['subscriptions/acknowledged', 'tools/list_changed', 'resources/updated'];
    await vi.waitFor(() => {
      for (const listener of [own, other]) expect(methodsOf(listener?.heard ?? [])).toEqual(all);
    });
    await vi.waitFor(() => expect(methodsOf(foreign?.heard ?? [])).toEqual(all.slice(0, 2)));
    expect(told.map(({ account }) => account === undefined)).toEqual([true, false]);
  });

  it('hear of all that they listen to if changes may have been lost, and nothing once they have left', async () => {
    const { there, lose } = await startTwo(shared);
    const all = await listen(there, 'ann', everything);
    const tools = await listen(there, 'ann', { toolsListChanged: true });
    lose();
    await vi.waitFor(() => expect(all.heard.length).toBeGreaterThanOrEqual(3));
    await vi.waitFor(() =>
      expect(methodsOf(tools.heard)).toEqual(['subscriptions/acknowledged', 'tools/list_changed']),
    );
    expect(methodsOf(all.heard).filter((method) => method === 'resources/updated')).toHaveLength(1);
    await there.close();
    lose();
    await vi.waitFor(() => expect(tools.heard.at(-1)).toHaveProperty('result'));
    expect(tools.heard).toHaveLength(3);
  });
});
