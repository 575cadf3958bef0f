import { McpServer as ServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { UrlElicitationRequiredError } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { internalRequest } from '../../../src/mcp/modern/internal-call.ts';
import { createLegacyBridge } from '../../../src/mcp/modern/legacy-bridge.ts';
import type { Conversations, McpLike, ServerSource } from '../../../src/mcp/protocol.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { modernRequest, type RpcAnswer, readAnswer, readAnswers } from '../support/gate.ts';
import { createCaller } from '../support/modern-calls.ts';
import { type ModernEndpoint, startModern } from '../support/modern-endpoint.ts';

/** A server of the SDK's version 1 that asks its client things, and how often its tools ran. */
function createOlderServer(ran: string[]): McpLike {
  const server = new ServerV1(
    { name: 'v1', version: '1.0.0' },
    { capabilities: { logging: {}, resources: { subscribe: true, listChanged: true } } },
  );
  server.registerTool('hello', { inputSchema: { name: z.string() } }, ({ name }) => ({
    content: [{ type: 'text', text: `hello ${name}` }],
  }));
  server.registerTool(
    'region',
    { inputSchema: { region: z.string().meta({ 'x-mcp-header': 'Region' }) } },
    ({ region }) => ({ content: [{ type: 'text', text: region }] }),
  );
  server.registerTool('name', {}, async () => {
    ran.push('name');
    const ask = (message: string) =>
      server.server.elicitInput({
        message,
        requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      });
    const first = await ask('first name?');
    const second = await ask('last name?');
    const text = [first, second].map(({ action, content }) => content?.name ?? action).join(' ');
    return { content: [{ type: 'text', text }] };
  });
  server.registerTool('steps', {}, async ({ sendNotification, _meta }) => {
    await sendNotification({ method: 'notifications/message', params: { level: 'info', data: 'log' } });
    const progressToken = _meta?.progressToken;
    if (progressToken !== undefined)
      await sendNotification({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
    return { content: [] };
  });
  server.registerTool('change', {}, async () => {
    server.sendToolListChanged();
    await server.server.sendResourceUpdated({ uri: 'test://a' });
    return { content: [] };
  });
  server.registerTool('consent', {}, () => {
    ran.push('consent');
    if (ran.length > 1) return { content: [{ type: 'text', text: 'consented' }] };
    const url = 'https://consent.example/1';
    throw new UrlElicitationRequiredError([
      { mode: 'url', message: 'Consent first', url, elicitationId: 'e' },
    ]);
  });
  server.registerTool('hang', {}, ({ signal }) => {
    signal.addEventListener('abort', () => ran.push('aborted'));
    ran.push('hang');
    return new Promise(() => {});
  });
  server.registerResource('a', 'test://a', {}, ({ href }) => ({ contents: [{ uri: href, text: 'a' }] }));
  server.server.setRequestHandler(SubscribeSchema, () => ({}));
  server.server.setRequestHandler(UnsubscribeSchema, () => ({}));
  return server as unknown as McpLike;
}
const SubscribeSchema = z.object({ method: z.literal('resources/subscribe'), params: z.any() });
const UnsubscribeSchema = z.object({ method: z.literal('resources/unsubscribe'), params: z.any() });

async function start(sharing: ServerSource['sharing']): Promise<{ endpoint: ModernEndpoint; ran: string[] }> {
  const ran: string[] = [];
  const source: ServerSource = { sharing, create: () => createOlderServer(ran) };
  return { endpoint: await startModern(source), ran };
}

const canElicit = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };

/** Calls a tool as a client that can be asked by form. */
async function callTool(
  endpoint: ModernEndpoint,
  subject: string,
  params: Record<string, unknown>,
  meta: object = canElicit,
): Promise<RpcAnswer & { status: number }> {
  const request = modernRequest('tools/call', { arguments: {}, ...params });
  const json = request.json as { params: { _meta: object } };
  Object.assign(json.params._meta, meta);
  const response = await endpoint.send(subject, { ...request, json });
  return { ...(await readAnswer(response)), status: response.status };
}

const accept = (name: string) => ({ action: 'accept' as const, content: { name } });

describe.each(['each', 'shared', 'single'] as const)('2026-07-28 of a v1 server that is %s', (sharing) => {
  it('serves the client of the SDK (C3-03)', async () => {
    const { endpoint } = await start(sharing);
    const client = await endpoint.connect('ann', { capabilities: { elicitation: {} } });
    client.setRequestHandler('elicitation/create', async ({ params }) => accept(params.message.slice(0, 5)));
    expect(client.getServerVersion()).toMatchObject({ name: 'v1' });
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('hello');
    expect(await client.callTool({ name: 'hello', arguments: { name: 'ann' } })).toMatchObject({
      content: [{ text: 'hello ann' }],
    });
    expect(await client.readResource({ uri: 'test://a' })).toMatchObject({ contents: [{ text: 'a' }] });
    expect(await client.callTool({ name: 'name' })).toMatchObject({ content: [{ text: 'first last ' }] });
  });

  it('gives results the form of the revision (C1-04, C3-04, C6-07)', async () => {
    const { endpoint } = await start(sharing);
    const { result } = await readAnswer(await endpoint.call('ann', 'tools/list'));
    expect(result).toMatchObject({
      resultType: 'complete',
      ttlMs: 0,
      cacheScope: 'private',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'v1' } },
    });
    expect(JSON.stringify(result)).not.toContain('"execution"');
    const discovered = await readAnswer(await endpoint.call('ann', 'server/discover'));
    expect(discovered.result).toMatchObject({
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {} },
    });
  });

  it.each(['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'no/such'])(
    'answers 404 to %s (B5-06, C3-06)',
    async (method) => {
      const { endpoint } = await start(sharing);
      const response = await endpoint.call('ann', method, {}, 4);
      expect([response.status, (await readAnswer(response)).error?.code]).toEqual([404, -32601]);
    },
  );

  it('asks for input, and goes on with the very same call: nothing runs twice (C4-06)', async () => {
    const { endpoint, ran } = await start(sharing);
    const first = await callTool(endpoint, 'ann', { name: 'name' });
    expect(first.result).toMatchObject({
      resultType: 'input_required',
      inputRequests: { 'input-1': { method: 'elicitation/create', params: { message: 'first name?' } } },
    });
    const second = await callTool(endpoint, 'ann', {
      name: 'name',
      requestState: first.result?.requestState,
      inputResponses: { 'input-1': accept('Ann') },
    });
    expect(second.result).toMatchObject({
      inputRequests: { 'input-2': { params: { message: 'last name?' } } },
    });
    const again = await callTool(endpoint, 'ann', {
      name: 'name',
      requestState: second.result?.requestState,
    });
    expect(again.result).toMatchObject({ inputRequests: { 'input-2': {} } });
    const last = await callTool(endpoint, 'ann', {
      name: 'name',
      requestState: again.result?.requestState,
      inputResponses: { 'input-2': accept('Lee') },
    });
    expect(last.result).toMatchObject({ resultType: 'complete', content: [{ text: 'Ann Lee' }] });
    expect(ran).toEqual(['name']);
  });

  it('goes on once with a state, and only for whom it was given to (C4-03, T-129, T-128)', async () => {
    const { endpoint, ran } = await start(sharing);
    const { result } = await callTool(endpoint, 'ann', { name: 'name' });
    const retry = {
      name: 'name',
      requestState: result?.requestState,
      inputResponses: { 'input-1': accept('Eve') },
    };
    expect((await callTool(endpoint, 'bob', retry)).error?.code).toBe(-32602);
    expect((await callTool(endpoint, 'ann', retry)).result).toMatchObject({ resultType: 'input_required' });
    expect((await callTool(endpoint, 'ann', retry)).error?.code).toBe(-32602);
    expect(ran).toEqual(['name']);
  });

  it('turns the error that a URL must be opened first into a request for that (C7-04)', async () => {
    const { endpoint } = await start(sharing);
    const canOpen = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { url: {} } } };
    const { result } = await callTool(endpoint, 'ann', { name: 'consent' }, canOpen);
    const params = { mode: 'url', message: 'Consent first', url: 'https://consent.example/1' };
    expect(result).toMatchObject({ resultType: 'input_required' });
    expect(result?.inputRequests).toEqual({ 'input-1': { method: 'elicitation/create', params } });
    const inputResponses = { 'input-1': { action: 'accept' } };
    const retry = await callTool(endpoint, 'ann', { name: 'consent', inputResponses }, canOpen);
    expect(retry.result).toMatchObject({ content: [{ text: 'consented' }] });
  });

  it('gives equal ids and tokens of many callers each its own answer (T-127)', async () => {
    const { endpoint } = await start(sharing);
    await Promise.all(
      Array.from({ length: 30 }, async (_, at) => {
        const name = `s${at}`;
        const { result } = await callTool(endpoint, name, { name: 'hello', arguments: { name } });
        expect(result).toMatchObject({ content: [{ text: `hello ${name}` }] });
      }),
    );
  });

  it('checks headers that mirror parameters (B5-10, T-132)', async () => {
    const { endpoint } = await start(sharing);
    // The first request shows that the server is an older one.
    await endpoint.call('ann', 'server/discover');
    const request = modernRequest('tools/call', { name: 'region', arguments: { region: 'eu' } });
    const statusWith = async (region?: string): Promise<unknown[]> => {
      const headers = { ...request.headers, 'mcp-param-region': region };
      const response = await endpoint.send('ann', { ...request, headers });
      return [response.status, (await readAnswer(response)).error?.code];
    };
    expect(await statusWith('eu')).toEqual([200, undefined]);
    expect(await statusWith('us')).toEqual([400, -32020]);
    expect(await statusWith()).toEqual([400, -32020]);
  });

  it('lets eight calls of a principal wait, and no more', async () => {
    const { endpoint } = await start(sharing);
    for (let call = 0; call < 8; call++)
      expect((await callTool(endpoint, 'ann', { name: 'name' })).status).toBe(200);
    expect((await callTool(endpoint, 'ann', { name: 'name' })).status).toBe(429);
    expect((await callTool(endpoint, 'bob', { name: 'name' })).status).toBe(200);
  });

  it('streams progress under the token of the client, and logs from the level it asks for (C6-03, C6-04)', async () => {
    const { endpoint } = await start(sharing);
    const request = modernRequest('tools/call', { name: 'steps', arguments: {} });
    const json = request.json as { params: { _meta: object } };
    Object.assign(json.params._meta, { progressToken: 'mine' });
    expect(await readAnswers(await endpoint.send('ann', { ...request, json }))).toMatchObject([
      { method: 'notifications/progress', params: { progressToken: 'mine' } },
      { id: 1, result: {} },
    ]);
    Object.assign(json.params._meta, { 'io.modelcontextprotocol/logLevel': 'info' });
    expect(await readAnswers(await endpoint.send('ann', { ...request, json }))).toMatchObject([
      { method: 'notifications/message' },
      { method: 'notifications/progress' },
      { id: 1 },
    ]);
  });

  it('cancels the work of a client that is gone (B5-14)', async () => {
    const { endpoint, ran } = await start(sharing);
    const leaving = new AbortController();
    const request = modernRequest('tools/call', { name: 'hang', arguments: {} });
    const gone = endpoint.send('ann', { ...request, signal: leaving.signal });
    await vi.waitFor(() => expect(ran).toEqual(['hang']));
    leaving.abort();
    await expect(gone).rejects.toThrow();
    await vi.waitFor(() => expect(ran).toEqual(['hang', 'aborted']));
  });

  it('says that a resource is not there in the words of the revision (C8-02)', async () => {
    const { endpoint } = await start(sharing);
    const response = await endpoint.call('ann', 'resources/read', { uri: 'test://none' });
    const { error } = await readAnswer(response);
    expect([response.status, error?.code]).toEqual([200, -32602]);
  });

  it('ends what runs when it is closed', async () => {
    const { endpoint, ran } = await start(sharing);
    const running = endpoint.call('ann', 'tools/call', { name: 'hang', arguments: {} });
    await vi.waitFor(() => expect(ran).toEqual(['hang']));
    await endpoint.close();
    expect((await running).status).toBe(500);
  });
});

describe.each(['shared', 'single'] as const)('2026-07-28 of a v1 server that is %s', (sharing) => {
  it('says which capability a tool needs that the client did not declare (C3-05)', async () => {
    const { endpoint } = await start(sharing);
    const { status, error } = await callTool(endpoint, 'ann', { name: 'name' }, {});
    expect([status, error]).toMatchObject([
      400,
      { code: -32021, data: { requiredCapabilities: { elicitation: { form: {} } } } },
    ]);
  });

  it('ends the stream of those who listen with its result when the server ended (C5-02)', async () => {
    const server = createOlderServer([]);
    const source: ServerSource = { sharing, create: () => server };
    const endpoint = await startModern(source);
    const notifications = { toolsListChanged: true };
    const stream = await endpoint.call('ann', 'subscriptions/listen', { notifications }, 5);
    // What answers after it shows that the stream's conversation has begun.
    await endpoint.call('ann', 'tools/list');
    await server.close();
    expect(await readAnswers(stream)).toMatchObject([
      { method: 'notifications/subscriptions/acknowledged', params: { notifications } },
      { id: 5, result: { resultType: 'complete' } },
    ]);
  });

  it('tells those who listen of changes (C5-01)', async () => {
    const { endpoint } = await start(sharing);
    const changed = vi.fn();
    const listChanged = { tools: { onChanged: changed, debounceMs: 0 } };
    const client = await endpoint.connect('ann', { listChanged });
    await vi.waitFor(async () => {
      await callTool(endpoint, 'bob', { name: 'change' });
      expect(changed).toHaveBeenCalled();
    });
    await client.close();
  });
});

describe('listening to a v1 server', () => {
  it.each<[string, Conversations['open']]>([
    ['does not start', async () => Promise.reject(new Error('no database'))],
    ['does not initialize', async () => ({ error: { code: -32603, message: 'no' } })],
  ])('that %s ends', async (_what, open) => {
    const bridge = createLegacyBridge({
      conversations: { open, close: async () => {} },
      source: { sharing: 'shared' },
      gate: { check: async () => undefined },
      publish: () => {},
      logger: createLogger('silent'),
    });
    const request = internalRequest('subscriptions/listen', {});
    const ended = vi.fn();
    bridge.listen?.(
      { toolsListChanged: true },
      { request, caller: createCaller() },
      { tell: vi.fn(), ended },
    );
    await vi.waitFor(() => expect(ended).toHaveBeenCalledOnce());
  });
});

it('a call that waits for its server to start is told so, where it has a progress token', async () => {
  const never = Promise.withResolvers<never>();
  const bridge = createLegacyBridge({
    conversations: { open: () => never.promise, close: async () => {} },
    source: { sharing: 'principal' },
    gate: { check: async () => undefined },
    publish: () => {},
    logger: createLogger('silent'),
  });
  const params = { name: 'a', _meta: { progressToken: 'mine' } };
  const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params } as const;
  const notify = vi.fn();
  bridge.begin({ request, caller: createCaller(), notify, answer: vi.fn() });
  await vi.waitFor(() => expect(notify).toHaveBeenCalledOnce(), { timeout: 3000 });
  expect(notify.mock.calls[0]?.[0]).toMatchObject({
    method: 'notifications/progress',
    params: { progressToken: 'mine', message: 'The MCP server is starting.' },
  });
  never.reject(new Error('over'));
});

it('A call that waits for input ends with the access of its caller, and outlives a token that only expires (T-203)', async () => {
  for (const [now, ended] of [
    [1000, 1],
    [9_999_999_999, 0],
  ] as const) {
    const end = vi.fn(async () => {});
    let revoke = (): void => undefined;
    const bridge = createLegacyBridge({
      conversations: {
        async open(_initialize, _sender, listener) {
          const serverInfo = { name: 's', version: '1' };
          const server = { connect: async () => {}, close: async () => {} };
          const say = ({ id, method }: { id?: unknown; method?: string }): void => {
            if (method === 'tools/call' && id !== undefined)
              listener.hear({ jsonrpc: '2.0', id: 101, method: 'roots/list', params: {} }, id as number);
          };
          const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo };
          return { conversation: { server, say, end }, result };
        },
        close: async () => {},
      },
      source: { sharing: 'principal' },
      gate: { check: async () => undefined },
      publish: () => {},
      accessWatch: {
        watch(_authInfo, tell) {
          revoke = tell;
          return () => undefined;
        },
      },
      now: () => now,
      logger: createLogger('silent'),
    });
    const _meta = { 'io.modelcontextprotocol/clientCapabilities': { roots: {} } };
    const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'a', _meta } } as const;
    const answer = vi.fn();
    bridge.begin({ request, caller: createCaller(), notify: vi.fn(), answer });
    await vi.waitFor(() => expect(answer).toHaveBeenCalledOnce());
    expect(answer.mock.calls[0]?.[0]).toMatchObject({ result: { resultType: 'input_required' } });
    revoke();
    expect(end).toHaveBeenCalledTimes(ended);
  }
});
