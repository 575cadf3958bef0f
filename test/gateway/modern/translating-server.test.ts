import { Client as ClientV2, InMemoryTransport } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport as InMemoryV1 } from '@modelcontextprotocol/sdk/inMemory.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { Transport } from '@modelcontextprotocol/server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { TranslatingServer } from '../../../src/gateway/modern/translating-server.ts';
import { connectSharedServer } from '../../../src/mcp/modern/shared-server.ts';
import type { Backend, ChangeListener, SubscriptionFilter } from '../../../src/mcp/protocol.ts';
import { toSdkAuthInfo } from '../../../src/mcp/sdk/caller.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { authInfoWith } from '../../mcp/support/auth-info.ts';
import { createAskingServer, type Memory } from '../../support/backend/asking-server.ts';

const info = { name: 'older', version: '1' };
const said = (result: unknown): unknown =>
  JSON.parse((result as { content: { text: string }[] }).content[0]?.text ?? 'null');

/** A real server of SDK v2 that speaks 2026-07-28 alone, as the translation sees it. */
async function start() {
  const memory: Memory = { ran: [], aborted: [] };
  const listening: { filter: SubscriptionFilter; listener: ChangeListener; isStopped: boolean }[] = [];
  const tellAll = (method: string, params?: Record<string, unknown>): void => {
    for (const { listener, isStopped } of listening)
      if (!isStopped) listener.tell({ method, ...(params && { params }) });
  };
  const inner = await connectSharedServer({
    server: createAskingServer({ memory, isModernOnly: true }),
    publish: ({ method, params }) => tellAll(method, params),
    onEnd: () => undefined,
    logger: createLogger('silent'),
  });
  if (!inner) throw new Error('the server is of no use');
  const backend: Backend = {
    ...inner,
    listen(filter, _call, listener) {
      const entry = { filter, listener, isStopped: false };
      listening.push(entry);
      queueMicrotask(() => listener.begun?.());
      return () => {
        entry.isStopped = true;
      };
    },
  };
  const server = new TranslatingServer(backend, authInfoWith());
  onTestFinished(() => inner.close());
  return { server, backend, memory, listening };
}

const malformedQuestions: unknown[] = [
  null,
  'ab',
  [{ method: 'roots/list' }],
  { a: null },
  { a: 'roots/list' },
  { a: { method: null } },
  { a: { method: { toString: 'roots/list' } } },
  { a: { method: 'elicitation/create', params: null } },
  { a: { method: 'roots/list', params: [] } },
];

async function connectV1(server: TranslatingServer, capabilities: object): Promise<ClientV1> {
  const [ours, theirs] = InMemoryV1.createLinkedPair();
  await server.connect(ours as unknown as Transport);
  const client = new ClientV1(info, { capabilities });
  onTestFinished(() => client.close());
  const connecting = client.connect(theirs);
  await connecting;
  return client;
}

describe('a server of 2026-07-28 alone, for a client of an older revision', () => {
  it('gets the sender of each message as its caller, and the owner if the message names none', async () => {
    const { backend } = await start();
    const callers: unknown[] = [];
    const begin: Backend['begin'] = (call) => {
      callers.push(call.caller.authInfo.displayName);
      return backend.begin(call);
    };
    const server = new TranslatingServer({ ...backend, begin }, { ...authInfoWith(), displayName: 'Ada' });
    const idle = async () => undefined;
    await server.connect({ start: idle, send: idle, close: idle });
    const authInfo = toSdkAuthInfo({ ...authInfoWith(), displayName: 'Ada Lovelace' });
    server.take({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, { authInfo });
    server.take({ jsonrpc: '2.0', id: 2, method: 'tools/list' });
    expect(callers).toEqual(['Ada Lovelace', 'Ada']);
  });

  it('answers initialize with what it discovers, in the revision that was asked for (C3-03)', async () => {
    const { server } = await start();
    const client = await connectV1(server, {});
    expect(client.getServerVersion()).toEqual({ name: 'asking', version: '1' });
    expect(client.getInstructions()).toBe('Ask, and you will be asked.');
    expect(client.getServerCapabilities()).toMatchObject({ tools: { listChanged: true }, logging: {} });
    await client.ping();
  });

  it.each(malformedQuestions)(
    'gets an error at once if it asks in a form that cannot be read, and asks its client nothing: %j (FA-13, T-202)',
    async (inputRequests) => {
      const { server, backend } = await start();
      const client = await connectV1(server, {});
      const { begin } = backend;
      backend.begin = (call) => {
        if (call.request.method !== 'tools/call') return begin(call);
        const result = { resultType: 'input_required', inputRequests, requestState: 's' };
        queueMicrotask(() => call.answer({ status: 200, result }));
        return () => undefined;
      };
      await expect(client.callTool({ name: 'any' })).rejects.toMatchObject({
        code: -32603,
        data: { reason: 'result_not_served' },
      });
    },
  );

  it('gives results and errors the form they had before (C1-04, C3-04, C3-06)', async () => {
    const { server } = await start();
    const client = await connectV1(server, {});
    const { tools, ...more } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('echo');
    expect(more).toEqual({ ttlMs: 60_000, cacheScope: 'public' });
    expect(await client.callTool({ name: 'echo', arguments: { text: 'x' } })).toEqual({
      content: [{ type: 'text', text: expect.stringContaining('"said":"x"') }],
    });
    expect((await client.readResource({ uri: 'test://a' })).contents).toHaveLength(1);
    expect((await client.getPrompt({ name: 'hello' })).messages).toHaveLength(1);
    await expect(client.readResource({ uri: 'test://none' })).rejects.toMatchObject({ code: -32002 });
    const tasks = { method: 'tasks/list' } as never;
    await expect(client.request(tasks, CreateMessageRequestSchema as never)).rejects.toMatchObject({
      code: -32601,
    });
  });

  it('asks the client what the server asks, by requests, and resumes the very call (C4-05, C4-06)', async () => {
    const { server, memory } = await start();
    const client = await connectV1(server, { elicitation: {}, sampling: {}, roots: {} });
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({
      action: 'accept' as const,
      content: { name: params.message.startsWith('Last') ? 'Lovelace' : 'Ada' },
    }));
    client.setRequestHandler(CreateMessageRequestSchema, () => ({
      role: 'assistant' as const,
      model: 'm',
      content: { type: 'text' as const, text: 'word' },
    }));
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///a' }] }));
    const call = async (name: string, args = {}) => said(await client.callTool({ name, arguments: args }));
    expect(await call('ask', { whom: 'ann' })).toEqual({ name: 'Ada', state: 'state of ann' });
    expect(await call('sample')).toEqual({ type: 'text', text: 'word' });
    expect(await call('roots')).toEqual(['file:///a']);
    expect(await call('twice')).toBe('Ada Lovelace');
    expect(memory.ran).toEqual([
      'ask',
      'ask',
      'sample',
      'sample',
      'roots',
      'roots',
      'twice',
      'twice',
      'twice',
    ]);
  });

  it('ends the call with what the client refuses, and tells the server what the client can do (C3-05)', async () => {
    const { server } = await start();
    const client = await connectV1(server, { elicitation: {} });
    client.setRequestHandler(ElicitRequestSchema, () => {
      throw new Error('not now');
    });
    await expect(client.callTool({ name: 'ask', arguments: {} })).rejects.toThrow('not now');
    await expect(client.callTool({ name: 'sample', arguments: {} })).rejects.toMatchObject({ code: -32021 });
  });

  it('carries progress, and log messages from the level that was set (C6-03, C6-04)', async () => {
    const { server } = await start();
    const client = await connectV1(server, {});
    const logged: unknown[] = [];
    client.setNotificationHandler(
      LoggingMessageNotificationSchema,
      ({ params }) => void logged.push(params.data),
    );
    const heard: number[] = [];
    const onprogress = ({ progress }: { progress: number }) => heard.push(progress);
    await client.callTool({ name: 'steps', arguments: {} }, undefined, { onprogress });
    expect([heard, logged]).toEqual([[1, 2, 3], []]);
    await client.setLoggingLevel('info');
    await client.callTool({ name: 'steps', arguments: {} });
    expect(logged).toEqual(['step 1', 'step 2', 'step 3']);
  });

  it('tells of changed lists and of resources the client subscribed to, over one subscription (C5-03)', async () => {
    const { server, listening } = await start();
    const client = await connectV1(server, {});
    const heard: string[] = [];
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void heard.push('tools'));
    client.setNotificationHandler(
      ResourceUpdatedNotificationSchema,
      ({ params }) => void heard.push(params.uri),
    );
    await client.subscribeResource({ uri: 'test://a' });
    const open = () => listening.filter(({ isStopped }) => !isStopped).map(({ filter }) => filter);
    const lists = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
    expect(open()).toEqual([{ ...lists, resourceSubscriptions: ['test://a'] }]);
    await client.callTool({ name: 'change', arguments: { uri: 'test://a' } });
    await vi.waitFor(() => expect(heard).toEqual(['tools', 'test://a']));
    await client.unsubscribeResource({ uri: 'test://a' });
    expect(open()).toEqual([lists]);
    await server.close();
    expect(open()).toEqual([]);
  });

  it('cancels what the client cancels, and takes back what it asked (C6-01)', async () => {
    const { server, memory } = await start();
    const client = await connectV1(server, { elicitation: {} });
    const cancelled = Promise.withResolvers<void>();
    client.setRequestHandler(ElicitRequestSchema, (_request, { signal }) => {
      signal.addEventListener('abort', () => cancelled.resolve());
      leaving.abort();
      return new Promise(() => undefined);
    });
    let leaving = new AbortController();
    const asking = client.callTool({ name: 'ask', arguments: {} }, undefined, { signal: leaving.signal });
    await expect(asking).rejects.toThrow();
    await cancelled.promise;
    leaving = new AbortController();
    const hanging = client.callTool({ name: 'hang', arguments: {} }, undefined, { signal: leaving.signal });
    await vi.waitFor(() => expect(memory.ran).toContain('hang'));
    leaving.abort();
    await expect(hanging).rejects.toThrow();
    await vi.waitFor(() => expect(memory.aborted).toEqual(['hang']));
  });

  it('serves the client of SDK v2 in the same way', async () => {
    const { server } = await start();
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    await server.connect(ours as unknown as Transport);
    const client = new ClientV2(info, { capabilities: { elicitation: {} } });
    client.setRequestHandler('elicitation/create', async () => ({
      action: 'accept' as const,
      content: { name: 'Grace' },
    }));
    await client.connect(theirs);
    expect(said(await client.callTool({ name: 'ask', arguments: { whom: 'bob' } }))).toEqual({
      name: 'Grace',
      state: 'state of bob',
    });
    await client.close();
  });
});
