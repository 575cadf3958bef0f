import { randomBytes } from 'node:crypto';
import { isSpecType, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createAggregate } from '../../../src/gateway/aggregate/aggregate.ts';
import {
  introduction,
  joinCapabilities,
  unknownName,
} from '../../../src/gateway/aggregate/aggregate-server.ts';
import type { Member } from '../../../src/gateway/aggregate/member.ts';
import type { GatewayBackend } from '../../../src/gateway/index.ts';
import { createCursors } from '../../../src/mcp/paging.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { callerOf, params as opening, type Said } from '../backends/stdio/support/talk.ts';
import { RawServer } from '../steps/support/raw-server.ts';

const log: string[] = [];
const logger = createLogger('warn', (line) => log.push(line));
const cursors = createCursors({ key: randomBytes(32) });

/** A backend of servers that a test answers for. */
function backendOf(make: () => RawServer): GatewayBackend & { made: RawServer[] } {
  const made: RawServer[] = [];
  return {
    made,
    source: {
      sharing: 'principal',
      create() {
        const server = make();
        made.push(server);
        return server;
      },
    },
    status: () => ({ kind: 'stdio', state: 'idle', failures: { count: 0 } }),
    close: () => undefined,
  };
}

/** Opens a conversation with several backends as one, as the front does. */
async function open(
  backends: Record<string, GatewayBackend>,
  subject = 'ada',
  capabilities: Record<string, unknown> = {},
) {
  const parts = Object.entries(backends).map(([key, backend]) => ({ key, name: `All/${key}`, backend }));
  const aggregate = createAggregate('All', parts, { cursors, logger });
  onTestFinished(() => aggregate.close());
  return { aggregate, ...(await connect(aggregate, subject, true, capabilities)) };
}

async function connect(
  aggregate: GatewayBackend,
  subject = 'ada',
  isReady = true,
  capabilities: Record<string, unknown> = {},
) {
  const server = await aggregate.source.create({ era: 'legacy', authInfo: callerOf(subject) });
  const answers = new Map<unknown, (answer: Said) => void>();
  const heard: { message: Said; relatedTo: unknown }[] = [];
  const transport: Transport = {
    start: async () => undefined,
    close: async () => undefined,
    async send(sent, options) {
      const message = sent as Said;
      if (message.method !== undefined) heard.push({ message, relatedTo: options?.relatedRequestId });
      else answers.get(message.id)?.(message);
    },
  };
  await server.connect(transport);
  const tell = (message: Said): void =>
    transport.onmessage?.({ jsonrpc: '2.0', ...message } as JSONRPCMessage);
  let lastId = 0;
  const ask = (method: string, params: Record<string, unknown> = {}): Promise<Said> => {
    const id = ++lastId;
    const answer = new Promise<Said>((resolve) => answers.set(id, resolve));
    tell({ id, method, params });
    return answer;
  };
  const initialized = await ask('initialize', { ...opening, capabilities });
  if (isReady) tell({ method: 'notifications/initialized' });
  return { ask, tell, heard, initialized, lastId: () => lastId };
}

const toolNames = ({ result = {} }: Said) => (result.tools as { name: string }[]).map(({ name }) => name);
const inputSchema = { type: 'object' };
const raw = (tools: readonly string[]) =>
  new RawServer({
    'tools/list': () => ({ result: { tools: tools.map((name) => ({ name, inputSchema })) } }),
  });

/** A server with a list of three pages. */
const paged = () =>
  new RawServer({
    'tools/list': ({ params }) => {
      const page = Number(params?.cursor ?? 0);
      return {
        result: {
          tools: [{ name: `t${page}`, inputSchema }],
          ...(page < 2 && { nextCursor: String(page + 1) }),
        },
      };
    },
  });

describe('lists', () => {
  it('have the entries of all on each page, and cursors that nobody else can use (C6-06, T-158)', async () => {
    const { ask, aggregate } = await open({
      a: backendOf(paged),
      b: backendOf(() => raw(['only'])),
    });
    const first = await ask('tools/list');
    expect(toolNames(first)).toEqual(['a_t0', 'b_only']);
    const cursor = first.result?.nextCursor as string;
    const second = await ask('tools/list', { cursor });
    const third = await ask('tools/list', { cursor: second.result?.nextCursor });
    expect([toolNames(second), toolNames(third)]).toEqual([['a_t1'], ['a_t2']]);
    expect(third.result?.nextCursor).toBeUndefined();
    const another = await connect(aggregate, 'bob');
    for (const refused of [
      ask('tools/list', { cursor: `${cursor}x` }),
      another.ask('tools/list', { cursor }),
    ])
      expect((await refused).error).toMatchObject({ code: -32602 });
  });

  it('are without tools whose names would be too long, and without what is no entry', async () => {
    const { ask } = await open({
      a: backendOf(() => raw(['x'.repeat(126), 'y'.repeat(127)])),
      b: backendOf(() => new RawServer({ 'tools/list': () => ({ result: { tools: 'none' } }) })),
    });
    expect(toolNames(await ask('tools/list'))).toEqual([`a_${'x'.repeat(126)}`]);
  });

  it('ask no backend for what it did not declare, and a backend cannot offer the name of another (T-160)', async () => {
    const b = backendOf(() => raw(['a_t', 'a+t']));
    const { ask } = await open({ a: backendOf(() => raw(['t'])), b });
    expect(toolNames(await ask('tools/list'))).toEqual(['a_t', 'b_a_t', 'b_a+t']);
    expect((await ask('prompts/list')).result).toEqual({ prompts: [] });
    expect(b.made[0]?.requests('prompts/list')).toEqual([]);
  });

  it('say which backend is missing, and are good for no longer', async () => {
    const failing = () =>
      new RawServer({
        'tools/list': () => ({ error: { code: -32603, message: 'No.', data: { reason: 'r' } } }),
      });
    const { ask, tell, heard } = await open({ a: backendOf(() => raw(['t'])), b: backendOf(failing) });
    expect((await ask('logging/setLevel', { level: 'info' })).result).toEqual({});
    const { result } = await ask('tools/list');
    expect(result).toEqual({
      tools: [{ name: 'a_t', inputSchema }],
      ttlMs: 0,
      _meta: { 'mcp-gatehouse/unavailable': [{ backend: 'b', message: 'No.', reason: 'r' }] },
    });
    expect(heard).toMatchObject([{ message: { params: { logger: 'b', data: 'No.' } }, relatedTo: 3 }]);
    tell({ method: 'notifications/cancelled', params: { requestId: 99 } });
  });
});

it('a list nobody waits for any more is no word of missing backends, to the client or in the log', async () => {
  const [a, b] = [backendOf(() => raw(['t'])), backendOf(() => new RawServer())];
  const { ask, tell, heard, lastId } = await open({ a, b });
  await ask('logging/setLevel', { level: 'info' });
  log.length = 0;
  void ask('tools/list');
  const silent = b.made[0] as RawServer;
  await silent.hears(({ method }) => method === 'tools/list');
  tell({ method: 'notifications/cancelled', params: { requestId: lastId() } });
  await silent.hears(({ method }) => method === 'notifications/cancelled');
  await new Promise((resolve) => setImmediate(resolve));
  expect([heard, log]).toEqual([[], []]);
});

describe('a backend that does not begin', () => {
  const refusing = () =>
    new RawServer({ initialize: () => ({ error: { code: -32603, message: 'Not today.' } }) });

  it('is missing, and tried again; lists have changed when it is there (T-157)', async () => {
    let isThere = false;
    const b = backendOf(() => (isThere ? raw(['late']) : refusing()));
    const { ask, heard, initialized } = await open({ a: backendOf(() => raw(['t'])), b });
    expect(initialized.result).toMatchObject({
      serverInfo: { name: 'All' },
      instructions: expect.stringContaining('# b'),
      _meta: { 'mcp-gatehouse/unavailable': [{ backend: 'b', message: 'Not today.' }] },
    });
    expect(toolNames(await ask('tools/list'))).toEqual(['a_t']);
    expect((await ask('tools/call', { name: 'b_late' })).error?.message).toBe('Not today.');
    isThere = true;
    await vi.waitFor(
      () => expect(heard.map(({ message }) => message.method)).toContain('notifications/tools/list_changed'),
      { timeout: 8000 },
    );
    expect(b.made.at(-1)?.heard.map(({ method }) => method)).toContain('notifications/initialized');
    expect(toolNames(await ask('tools/list'))).toEqual(['a_t', 'b_late']);
  });

  it('is told the log level also where it is there before the client says that it is ready', async () => {
    let isThere = false;
    const able = () =>
      new RawServer({
        initialize: () => ({
          result: {
            protocolVersion: '2025-11-25',
            capabilities: { logging: {} },
            serverInfo: { name: 'x', version: '1' },
          },
        }),
        'logging/setLevel': () => ({ result: {} }),
      });
    const b = backendOf(() => (isThere ? able() : refusing()));
    const parts = Object.entries({ a: backendOf(able), b }).map(([key, backend]) => ({
      key,
      name: key,
      backend,
    }));
    const aggregate = createAggregate('All', parts, { cursors, logger });
    onTestFinished(() => aggregate.close());
    const { ask, tell } = await connect(aggregate, 'ada', false);
    await ask('logging/setLevel', { level: 'info' });
    isThere = true;
    await vi.waitFor(() => expect(b.made).toHaveLength(2), 3000);
    const late = b.made[1] as RawServer;
    await late.hears(({ method }) => method === 'initialize');
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(late.requests('logging/setLevel')).toEqual([]);
    tell({ method: 'notifications/initialized' });
    const { params } = await late.hears(({ method }) => method === 'logging/setLevel');
    expect(params).toEqual({ level: 'info' });
  });

  it('is the answer to initialize where there is no other', async () => {
    const { initialized } = await open({ a: backendOf(refusing), b: backendOf(refusing) });
    expect(initialized.error).toMatchObject({ message: 'Not today.' });
  });
});

describe('messages', () => {
  const quiet = () => new RawServer();

  it('go to the backend they are of: calls, answers, progress and cancellations, with equal ids (T-127, T-128)', async () => {
    const [a, b] = [backendOf(quiet), backendOf(quiet)];
    const { ask, tell, heard } = await open({ a, b }, 'ada', { roots: {} });
    const [ofA, ofB] = [a.made[0] as RawServer, b.made[0] as RawServer];
    const call = ask('tools/call', { name: 'a_t', arguments: {}, task: {} });
    void ask('tools/call', { name: 'b_t', arguments: {} });
    const received = await ofA.hears(({ method }) => method === 'tools/call');
    expect(received.params).toEqual({ name: 't', arguments: {} });
    for (const server of [ofA, ofB]) server.say({ id: 0, method: 'roots/list' });
    await vi.waitFor(() => expect(heard).toHaveLength(2));
    const [first, second] = heard.map(({ message }) => message.id);
    expect(first).not.toBe(second);
    expect(heard.map(({ relatedTo }) => relatedTo)).toEqual([2, 3]);
    tell({ id: second, result: { roots: [] } } as Said);
    expect(await ofB.hears(({ id, method }) => id === 0 && method === undefined)).toMatchObject({
      result: { roots: [] },
    });
    expect(ofA.heard.filter(({ method }) => method === undefined)).toEqual([]);
    ofB.say({ id: received.id, result: { content: 'of another' } });
    ofA.say({ id: received.id, result: { content: [] } });
    expect((await call).result).toEqual({ content: [] });
    tell({ method: 'notifications/cancelled', params: { requestId: 3, reason: 'enough' } });
    expect(await ofB.hears(({ method }) => method === 'notifications/cancelled')).toMatchObject({
      params: { reason: 'enough' },
    });
  });

  it('for a backend that ended begin it anew, with its subscriptions and its log level', async () => {
    const able = () =>
      new RawServer({
        initialize: () => ({
          result: {
            protocolVersion: '2025-11-25',
            capabilities: { resources: { subscribe: true }, logging: {} },
            serverInfo: { name: 'x', version: '1' },
          },
        }),
        'resources/subscribe': () => ({ result: {} }),
        'resources/read': () => ({ result: { contents: [] } }),
        'logging/setLevel': () => ({ result: {} }),
      });
    const a = backendOf(able);
    const { ask, heard } = await open({ a, b: backendOf(quiet) });
    await ask('resources/subscribe', { uri: 'a+x:y' });
    await ask('logging/setLevel', { level: 'info' });
    await a.made[0]?.close();
    expect((await ask('resources/read', { uri: 'a+x:y' })).result).toEqual({ contents: [] });
    const again = a.made[1] as RawServer;
    expect(again.requests('resources/subscribe').map(({ params }) => params)).toEqual([{ uri: 'x:y' }]);
    expect(again.requests('logging/setLevel').map(({ params }) => params)).toEqual([{ level: 'info' }]);
    again.say({ method: 'notifications/resources/updated', params: { uri: 'x:y' } });
    await vi.waitFor(() =>
      expect(heard.map(({ message }) => message.params)).toContainEqual({ uri: 'a+x:y' }),
    );
  });

  it('of nobody are answered with the names there are', async () => {
    const { ask } = await open({ a: backendOf(quiet), b: backendOf(quiet) });
    expect((await ask('tools/call', { name: 'c_t' })).error?.message).toContain('(a, b)');
    expect((await ask('resources/read', { uri: 'x:y' })).error).toMatchObject({ code: -32002 });
    expect((await ask('tasks/list')).error).toMatchObject({ code: -32601 });
    expect((await ask('ping')).result).toEqual({});
  });
});

it('keys that could not stand before names are refused', () => {
  for (const key of ['A', 'a_b', 'a+b'])
    expect(() =>
      createAggregate('All', [{ key, name: 'x', backend: backendOf(raw.bind(null, [])) }], {
        cursors,
        logger,
      }),
    ).toThrow('keys of backends');
});

describe('joined capabilities', () => {
  it('several backends can do what one of them can, with lists that change, and without tasks', () => {
    expect(joinCapabilities([])).toEqual({});
    expect(
      joinCapabilities([
        { tools: {}, tasks: {}, extensions: { a: { of: 1 }, b: {} } },
        { resources: { subscribe: true }, logging: {}, extensions: { a: { of: 2 }, __proto__: {} } },
        { prompts: {}, completions: {}, resources: {}, experimental: { c: {} } },
      ]),
    ).toEqual({
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      logging: {},
      completions: {},
      experimental: { c: {} },
      extensions: { a: { of: 1 }, b: {} },
    });
  });

  it('A capability that is no object is left out, so that clients take those of the other backends (FA-43)', () => {
    const joined = joinCapabilities([
      { experimental: { a: true, b: { of: 1 }, c: null, d: [] }, extensions: { e: 'on' } },
      { extensions: { f: {} } },
    ]);
    expect(joined).toEqual({ experimental: { b: { of: 1 } }, extensions: { f: {} } });
    expect(isSpecType.ServerCapabilities(joined)).toBe(true);
  });
});

describe('the introduction', () => {
  const member = (key: string, said?: object, known?: object) =>
    ({ key, backend: { name: key, known }, result: said }) as unknown as Member;

  it('several backends introduce themselves as one: what they can do together, and what each says (C8-07)', () => {
    const a = member('a', { capabilities: { tools: {} }, instructions: 'Read first.' });
    const b = member('b', { capabilities: { logging: {} }, instructions: '' });
    const away = member('c', undefined, { prompts: {} });
    const error = { code: -32603, message: 'Not today.', data: { reason: 'backend_ended' } };
    expect(introduction('All', '2025-11-25', [a, b, away], [{ member: away, error }])).toEqual({
      protocolVersion: '2025-11-25',
      capabilities: { tools: { listChanged: true }, prompts: { listChanged: true }, logging: {} },
      serverInfo: { name: 'All', version: '1' },
      instructions:
        '# a\n\nTools and prompts: a_…; resources: a+….\n\nRead first.\n\n# c\n\nNot available at present.',
      ttlMs: 0,
      _meta: {
        'mcp-gatehouse/unavailable': [{ backend: 'c', message: 'Not today.', reason: 'backend_ended' }],
      },
    });
  });

  it('what nobody has reached yet counts as having all that is listed', () => {
    const unknown = member('a');
    expect(introduction('All', '2025-11-25', [unknown], [])).toMatchObject({
      capabilities: { tools: {}, prompts: {}, resources: { subscribe: true } },
    });
  });
});

describe('unknown names', () => {
  it.each([
    [
      'tools/call',
      { name: 'read' },
      -32602,
      'read is not found: names begin with the backend they are of (a, b) and _',
    ],
    ['completion/complete', { ref: {} }, -32602, 'It is not found: names begin with'],
    ['resources/read', { uri: 'x:y' }, -32002, 'URIs begin with the backend they are of (a, b) and +.'],
    ['tasks/list', {}, -32601, 'Method not found'],
  ])(
    '%s for no backend is an error that says how names begin, where there are any',
    (method, params, code, words) => {
      const error = unknownName({ method, params }, ['a', 'b']);
      expect(error.code).toBe(code);
      expect(error.message).toContain(words);
    },
  );
});
