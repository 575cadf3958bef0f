import { setTimeout as pause } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { createAllowedNames } from '../../../src/gateway/steps/allowed-names.ts';
import type { Step } from '../../../src/gateway/steps/step.ts';
import { withSteps } from '../../../src/gateway/steps/with-steps.ts';
import { internalRequest } from '../../../src/mcp/modern/internal-call.ts';
import { connectSharedServer as connectOneServer } from '../../../src/mcp/modern/shared-server.ts';
import type { Backend, Change } from '../../../src/mcp/protocol.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { callBackend, createCaller } from '../../mcp/support/modern-calls.ts';
import { RawServer } from './support/raw-server.ts';

const echo = { name: 'echo', arguments: { text: 'one' } };

/** A server of 2026-07-28 behind steps; how many of its slow calls were cancelled. */
async function modern(steps: readonly Step[]) {
  const server = new McpServer(
    { name: 'modern', version: '1' },
    { supportedProtocolVersions: ['2026-07-28'], capabilities: { logging: {} } },
  );
  const cancelled: string[] = [];
  const started: string[] = [];
  server.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, async ({ text }) => ({
    content: [{ type: 'text', text }],
  }));
  server.registerTool('slow', {}, async ({ mcpReq }) => {
    started.push('slow');
    await mcpReq.notify({
      method: 'notifications/progress',
      params: { progressToken: mcpReq._meta?.progressToken ?? 0, progress: 1 },
    });
    await new Promise((resolve) => mcpReq.signal.addEventListener('abort', resolve));
    cancelled.push('slow');
    return { content: [] };
  });
  const inner = (await connectOneServer({
    server,
    publish: () => undefined,
    onEnd: () => undefined,
    logger: createLogger('silent'),
  })) as Backend;
  onTestFinished(() => inner.close());
  const source = withSteps(
    {
      sharing: 'shared',
      create: () => server,
      modern: async () => inner,
    },
    steps,
    { error: () => expect.unreachable() },
  );
  const backend = (await source.modern?.(createCaller())) as Backend;
  return { source, backend, cancelled, started };
}

function forCalls(answer: Step['answer']): Step {
  return { cares: (method) => method === 'tools/call', answer };
}

describe('a server of 2026-07-28 behind steps', () => {
  it('is the same object for all who ask, and answers what no step cares for as it does', async () => {
    const { source, backend } = await modern([forCalls(async () => ({ result: {} }))]);
    expect(await source.modern?.(createCaller('bob'))).toBe(backend);
    const { answer } = await callBackend(backend, 'tools/list');
    expect(answer.result?.tools).toHaveLength(2);
  });

  it('gets requests as the steps hand them on, and its answers pass them on the way back', async () => {
    const seen: unknown[] = [];
    const step = forCalls(async (request, { caller, era }, next) => {
      seen.push(caller?.subject, era);
      const { result = {} } = await next({
        ...request,
        params: { ...request.params, arguments: { text: 'two' } },
      });
      return { result: { ...result, seen: true } };
    });
    const { backend } = await modern([step]);
    const { answer } = await callBackend(backend, 'tools/call', echo);
    expect(answer).toMatchObject({
      status: 200,
      by: backend.server,
      result: { content: [{ text: 'two' }], seen: true },
    });
    expect(seen).toEqual(['ann', 'modern']);
  });

  it('keeps the status of its own errors; those of steps have 200', async () => {
    const forAll = (answer: Step['answer']): Step => ({ cares: () => true, answer });
    const passes = await modern([forAll((request, _passing, next) => next(request))]);
    const refuses = await modern([forAll(async () => ({ error: { code: -32602, message: 'no' } }))]);
    expect((await callBackend(passes.backend, 'no/such')).answer).toMatchObject({
      status: 404,
      error: { code: -32601 },
    });
    expect((await callBackend(refuses.backend, 'no/such')).answer).toEqual({
      status: 200,
      error: { code: -32602, message: 'no' },
    });
  });

  it('is cancelled with its request, and where a step answers before it does (B5-14)', async () => {
    let signal: AbortSignal | undefined;
    let signs = 0;
    const step = forCalls((request, passing, next) => {
      ({ signal } = passing);
      passing.onProgress(() => signs++);
      const given = next(request);
      return request.id === 'impatient'
        ? pause(30).then(() => ({ error: { code: -32603, message: 'slow' } }))
        : given;
    });
    const { backend, cancelled, started } = await modern([step]);
    const answers: unknown[] = [];
    const slow = internalRequest('tools/call', { name: 'slow' });
    Object.assign(slow.params?._meta as object, { progressToken: 'p' });
    const begin = (id: string) =>
      backend.begin({
        request: { ...slow, id },
        caller: createCaller(),
        notify: () => undefined,
        answer: (answer) => answers.push(answer.error?.message),
      });
    const cancel = begin('patient');
    await pause(20);
    expect([started, signal?.aborted, signs]).toEqual([['slow'], false, 1]);
    cancel();
    await pause(20);
    expect([cancelled, signal?.aborted, answers]).toEqual([['slow'], true, []]);
    begin('impatient');
    await pause(60);
    expect([cancelled, answers]).toEqual([['slow', 'slow'], ['slow']]);
  });

  it('is asked by a step of its own for the caller', async () => {
    const { backend } = await modern([forCalls((_request, passing) => passing.ask('tools/list', {}))]);
    const { answer } = await callBackend(backend, 'tools/call', echo);
    expect(answer.result?.tools).toHaveLength(2);
  });

  it('tells the steps of changes that a client listens to', async () => {
    const heard: unknown[] = [];
    const steps: Step[] = [
      {
        cares: () => false,
        answer: (request, _passing, next) => next(request),
        hear: ({ method }) => heard.push(method),
      },
    ];
    const inner = {
      checksEnvelope: 'all' as const,
      begin: () => () => undefined,
      notify: () => undefined,
      discover: async () => ({ capabilities: {}, serverInfo: {} }),
      close: async () => undefined,
      listen: ((_filter, _call, { tell }) => {
        tell({ method: 'notifications/tools/list_changed' });
        return () => undefined;
      }) as NonNullable<Backend['listen']>,
    };
    const source = withSteps(
      { sharing: 'shared', create: () => expect.unreachable(), modern: async () => inner },
      steps,
      { error: () => undefined },
    );
    const backend = await source.modern?.(createCaller());
    const told: unknown[] = [];
    backend?.listen?.(
      {},
      { request: internalRequest('subscriptions/listen', {}), caller: createCaller() },
      { tell: (change) => told.push(change), ended: () => undefined },
    );
    expect([heard, told]).toEqual([
      ['notifications/tools/list_changed'],
      [{ method: 'notifications/tools/list_changed' }],
    ]);
  });

  it('tells nobody of resources they may not use, and asks the server of none (T-158)', async () => {
    const { backend, filters, tell } = await listening();
    const told: unknown[] = [];
    const listen = (uris: string[]) =>
      backend.listen?.(
        { toolsListChanged: true, resourceSubscriptions: uris },
        { request: internalRequest('subscriptions/listen', {}), caller: createCaller() },
        { tell: ({ params }) => told.push(params?.uri), ended: () => undefined },
      );
    listen(['a://1', 'b://1']);
    for (const uri of ['a://1', 'b://1'])
      tell({ method: 'notifications/resources/updated', params: { uri } });
    listen(['b://1']);
    expect(filters).toEqual([
      { toolsListChanged: true, resourceSubscriptions: ['a://1'] },
      { toolsListChanged: true },
    ]);
    expect(told).toEqual(['a://1']);
  });

  it('gives the schemas of tools that may be used, as they are now, and of no others', async () => {
    const { backend, tell, offer } = await listening();
    const schemaOf = (tool: string) => backend.inputSchemaOf?.(tool, createCaller());
    expect(await schemaOf('read')).toEqual({ type: 'object' });
    expect(await schemaOf('drop')).toBeUndefined();
    backend.listen?.(
      {},
      { request: internalRequest('subscriptions/listen', {}), caller: createCaller() },
      { tell: () => undefined, ended: () => undefined },
    );
    offer('read_all');
    tell({ method: 'notifications/tools/list_changed' });
    expect(await schemaOf('read_all')).toEqual({ type: 'object' });
  });
});

/** A server that a test has tell of changes, behind a policy. */
async function listening() {
  const filters: unknown[] = [];
  const tools = ['read', 'drop'];
  const named = () => tools.map((name) => ({ name, inputSchema: { type: 'object' } }));
  let listener: Parameters<NonNullable<Backend['listen']>>[2] | undefined;
  const inner: Backend = {
    checksEnvelope: 'all',
    begin({ answer }) {
      queueMicrotask(() => answer({ status: 200, result: { tools: named() } }));
      return () => undefined;
    },
    notify: () => undefined,
    discover: async () => ({ capabilities: {}, serverInfo: {} }),
    close: async () => undefined,
    inputSchemaOf: async () => ({ type: 'object' }),
    listen(filter, _call, by) {
      filters.push(filter);
      listener = by;
      return () => undefined;
    },
  };
  const policy = createAllowedNames({
    tools: { allow: ['read*'], deny: [] },
    prompts: { allow: ['*'], deny: [] },
    resources: { allow: ['a://*'], deny: [] },
  });
  const source = withSteps(
    { sharing: 'shared', create: () => expect.unreachable(), modern: async () => inner },
    [policy],
    { error: () => undefined },
  );
  return {
    backend: (await source.modern?.(createCaller())) as Backend,
    filters,
    tell: (change: Change) => listener?.tell(change),
    offer: (name: string) => tools.push(name),
  };
}

describe('a source with steps', () => {
  it('is shared as it was, makes servers for whom they are asked for, and closes them', async () => {
    const contexts: unknown[] = [];
    const server = new RawServer();
    let closed = 0;
    server.close = async () => {
      closed++;
    };
    const source = withSteps(
      {
        sharing: 'principal',
        create(context) {
          contexts.push(context);
          return server;
        },
      },
      [],
      { error: () => undefined },
    );
    const made = await source.create({ era: 'legacy' });
    await made.close();
    expect([source.sharing, contexts, closed]).toEqual(['principal', [{ era: 'legacy' }], 1]);
  });
});
