import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Passing, Step } from '../../../src/gateway/steps/step.ts';
import { withSteps } from '../../../src/gateway/steps/with-steps.ts';
import type { ServerSource } from '../../../src/mcp/protocol.ts';
import { type CallContext, callerOf } from '../../../src/mcp/sdk/caller.ts';
import { patienceOf, withPatience } from '../../../src/mcp/upstreams/upstream.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { callerNamed, openTalk, startConversations } from '../../mcp/sdk/support/talk.ts';
import { RawServer } from './support/raw-server.ts';
import { stepped } from './support/stepped.ts';

const call = { name: 'echo', arguments: {} };
const done = { result: { content: [] } };

/** A step for tool calls that a test writes. */
function forCalls(answer: Step['answer']): Step {
  return { cares: (method) => method === 'tools/call', answer };
}

describe('a server behind steps', () => {
  it('gets requests as the steps hand them on, and its answers pass them on the way back', async () => {
    const step = forCalls(async (request, _passing, next) => {
      const { result = {} } = await next({ ...request, params: { ...request.params, arguments: { a: 1 } } });
      return { result: { ...result, seen: true } };
    });
    const { server, talk } = stepped([step], { 'tools/call': () => done });
    const { ask } = await talk();
    expect((await ask('tools/call', call)).result).toEqual({ content: [], seen: true });
    expect(server.requests('tools/call')[0]?.params).toEqual({ name: 'echo', arguments: { a: 1 } });
  });

  it('is not asked what a step answers itself', async () => {
    const step = forCalls(async () => ({ error: { code: -32602, message: 'no' } }));
    const { server, talk } = stepped([step]);
    expect((await (await talk()).ask('tools/call', call)).error?.code).toBe(-32602);
    expect(server.requests('tools/call')).toEqual([]);
  });

  it('goes through the steps in their order, and only through those that care', async () => {
    const order: string[] = [];
    const named = (name: string, method: string): Step => ({
      cares: (asked) => asked === method,
      async answer(request, _passing, next) {
        order.push(name);
        const answer = await next(request);
        order.push(`${name} back`);
        return answer;
      },
    });
    const steps = [named('first', 'tools/call'), named('other', 'tools/list'), named('second', 'tools/call')];
    const { talk } = stepped(steps, { 'tools/call': () => done });
    await (await talk()).ask('tools/call', call);
    expect(order).toEqual(['first', 'second', 'second back', 'first back']);
  });

  it('hears a cancellation under the id it knows, and the step sees it; the answer goes to nobody (C6-01)', async () => {
    let signal: AbortSignal | undefined;
    const step = forCalls((request, passing, next) => {
      ({ signal } = passing);
      return next(request);
    });
    const { server, talk } = stepped([step]);
    const { say, heard } = await talk();
    say({ id: 'mine', method: 'tools/call', params: call });
    const { id } = await server.hears(({ method }) => method === 'tools/call');
    expect(signal?.aborted).toBe(false);
    say({ method: 'notifications/cancelled', params: { requestId: 'mine' } });
    expect((await server.hears(({ method }) => method === 'notifications/cancelled')).params).toEqual({
      requestId: id,
    });
    expect(signal?.aborted).toBe(true);
    server.say({ id, ...done });
    await pause(20);
    expect(heard.filter((message) => message.id === 'mine')).toEqual([]);
  });

  it('never gets a request that was cancelled before the steps let it through', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const step = forCalls(async (request, _passing, next) => {
      await promise;
      return next(request);
    });
    const { server, talk } = stepped([step], { ping: () => ({ result: {} }) });
    const { say } = await talk();
    say({ id: 1, method: 'tools/call', params: call });
    say({ method: 'notifications/cancelled', params: { requestId: 1 } });
    resolve();
    await pause(20);
    expect(server.heard.map(({ method }) => method)).toEqual(['initialize', 'notifications/initialized']);
  });

  it('is told to stop where a step answers before it does', async () => {
    const step = forCalls(async (request, _passing, next) => {
      void next(request);
      await pause(5);
      return { error: { code: -32603, message: 'too slow' } };
    });
    const { server, talk } = stepped([step]);
    expect((await (await talk()).ask('tools/call', call)).error?.message).toBe('too slow');
    const [request] = server.requests('tools/call');
    expect((await server.hears(({ method }) => method === 'notifications/cancelled')).params).toMatchObject({
      requestId: request?.id,
    });
  });

  it('shows with progress, and with questions and their answers, that it works on a request', async () => {
    let signs = 0;
    const step = forCalls((request, passing, next) => {
      passing.onProgress(() => signs++);
      return next(request);
    });
    const { server, talk } = stepped([step], {}, 'each');
    const { say, hears } = await talk({ capabilities: { roots: {} } });
    say({ id: 1, method: 'tools/call', params: { ...call, _meta: { progressToken: 'p' } } });
    const { id } = await server.hears(({ method }) => method === 'tools/call');
    server.say({ method: 'notifications/progress', params: { progressToken: id, progress: 1 } });
    await hears(({ method }) => method === 'notifications/progress');
    expect(signs).toBe(1);
    server.say({ id: 'q', method: 'roots/list' });
    const question = await hears(({ method }) => method === 'roots/list');
    expect(signs).toBe(2);
    say({ id: question.id, result: { roots: [] } });
    expect(await server.hears((message) => message.id === 'q' && message.result !== undefined)).toBeDefined();
    expect(signs).toBe(3);
  });

  it('is asked by a step of its own for the caller, which the client does not see', async () => {
    const step = forCalls(async (_request, passing) => passing.ask('tools/list', {}));
    const { server, talk } = stepped([step], { 'tools/list': () => ({ result: { tools: [] } }) });
    const { ask, heard } = await talk();
    expect((await ask('tools/call', call)).result).toEqual({ tools: [] });
    expect(server.requests('tools/list')[0]?.id).toMatch(/^gatehouse-[0-9a-f-]{36}-1$/);
    expect(heard).toHaveLength(1);
  });

  it('that does not answer what a step asks within ten seconds is not waited for any longer, and the step hears why', async () => {
    const step = forCalls((_request, { ask }) => ask('tools/list', {}));
    const { server, talk } = stepped([step]);
    const { ask } = await talk();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const answer = ask('tools/call', call);
    await vi.advanceTimersByTimeAsync(10_000);
    expect((await answer).error?.data).toEqual({ reason: 'backend_timed_out' });
    expect(server.heard.at(-1)?.method).toBe('notifications/cancelled');
  });

  it('tells the step who calls, also where it serves many', async () => {
    const callers: (string | undefined)[] = [];
    const step = forCalls(async (_request, { caller, era }: Passing) => {
      callers.push(`${era} ${caller?.subject}`);
      return { result: {} };
    });
    const { talk } = stepped([step]);
    await (await talk({ subject: 'ann' })).ask('tools/call', call);
    await (await talk({ subject: 'bob' })).ask('tools/call', call);
    expect(callers).toEqual(['legacy ann', 'legacy bob']);
  });

  it('is asked by a step without waiting for a person, however long the call waits', async () => {
    const patience: number[] = [];
    const source: ServerSource = {
      sharing: 'principal',
      create: () => ({
        async connect(transport) {
          await server.connect(transport);
          const take = transport.onmessage;
          transport.onmessage = (message, extra) => {
            if ('method' in message && message.method.startsWith('tools/'))
              patience.push(patienceOf(callerOf(extra as CallContext)));
            take?.(message, extra);
          };
        },
        close: () => server.close(),
      }),
    };
    const server = new RawServer({
      'tools/list': () => ({ result: { tools: [] } }),
      'tools/call': () => done,
    });
    const step = forCalls(async (request, { ask }, next) => {
      await ask('tools/list', {});
      return next(request);
    });
    const stepping = withSteps(source, [step], createLogger('silent'));
    const conversations = startConversations('principal', () => stepping.create({ era: 'legacy' }));
    const authInfo = withPatience(callerNamed('ann'), 30_000);
    await (await openTalk(conversations, { sender: { authInfo } })).ask('tools/call', call);
    expect(patience).toEqual([0, 30_000]);
  });

  it('that ends leaves no step waiting, and each request is answered once', async () => {
    const answers: unknown[] = [];
    const step = forCalls(async (request, _passing, next) => {
      const answer = await next(request);
      answers.push(answer);
      return answer;
    });
    const { server, talk } = stepped([step]);
    const { say, heard } = await talk();
    say({ id: 1, method: 'tools/call', params: call });
    await server.hears(({ method }) => method === 'tools/call');
    await server.close();
    await pause(20);
    expect(answers).toHaveLength(1);
    expect(heard.filter(({ id }) => id === 1)).toHaveLength(1);
  });
});
