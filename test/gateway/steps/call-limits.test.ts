import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createCallLimits, createTimeLimit } from '../../../src/gateway/steps/call-limits.ts';
import type { Answer, Passing } from '../../../src/gateway/steps/step.ts';
import { stepped } from './support/stepped.ts';

const answers = { 'tools/call': () => ({ result: { content: [] } }) };

describe('calls of a tool by a person', () => {
  it('are limited in a minute, with a hint when to come back; other tools and people have their own', async () => {
    const clock = { ms: 0 };
    const step = createCallLimits([{ tools: 'write_*', perMinute: 2 }], () => clock.ms);
    const { talk } = stepped([step], answers);
    const [ann, bob] = [await talk({ subject: 'ann' }), await talk({ subject: 'bob' })];
    const call = async ({ ask }: typeof ann, name: string) => (await ask('tools/call', { name })).error?.data;
    expect([await call(ann, 'write_a'), await call(ann, 'write_a')]).toEqual([undefined, undefined]);
    clock.ms = 20_000;
    expect(await call(ann, 'write_a')).toEqual({ reason: 'tool_called_too_often', retryAfterSeconds: 40 });
    expect([await call(ann, 'write_b'), await call(ann, 'read'), await call(bob, 'write_a')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    clock.ms = 60_000;
    expect(await call(ann, 'write_a')).toBeUndefined();
  });

  it('are limited at once; one that ended or was cancelled makes room', async () => {
    const { talk, server } = stepped([createCallLimits([{ tools: '*', atOnce: 1 }], () => 0)]);
    const { say, ask, hears } = await talk();
    const slow = { name: 'slow' };
    say({ id: 'a', method: 'tools/call', params: slow });
    const { id } = await server.hears(({ method }) => method === 'tools/call');
    expect((await ask('tools/call', slow)).error?.data).toMatchObject({
      reason: 'tool_called_too_often_at_once',
    });
    server.say({ id, result: {} });
    await hears((message) => message.id === 'a');
    say({ id: 'b', method: 'tools/call', params: slow });
    say({ method: 'notifications/cancelled', params: { requestId: 'b' } });
    await server.hears(({ method }) => method === 'notifications/cancelled');
    say({ id: 'c', method: 'tools/call', params: slow });
    await server.hears((message) => message.method === 'tools/call' && message.id === 5);
  });

  it.each([
    [1, 'may be called once a minute', 'A call of the tool slow runs for your account, and no other may'],
    [2, 'may be called 2 times a minute', '2 calls of the tool slow run for your account, and no more may'],
  ])('are counted in words that fit: %i', async (most, often, atOnce) => {
    const step = createCallLimits(
      [
        { tools: 'quick', perMinute: most },
        { tools: 'slow', atOnce: most },
      ],
      () => 0,
    );
    const quick = await stepped([step], answers).talk();
    const { talk } = stepped([step]);
    const { say, ask } = await talk();
    const said = async (name: string, from: typeof ask) =>
      (await from('tools/call', { name })).error?.message;
    for (let count = 0; count < most; count++) {
      await quick.ask('tools/call', { name: 'quick' });
      say({ id: `slow ${count}`, method: 'tools/call', params: { name: 'slow' } });
    }
    expect(await said('quick', quick.ask)).toContain(often);
    expect(await said('slow', ask)).toContain(atOnce);
  });

  it('are free where no rule is written', () => {
    expect(createCallLimits([], () => 0).cares('tools/call')).toBe(false);
  });
});

describe('the time limit', () => {
  const call = { name: 'slow', arguments: {}, _meta: { progressToken: 'p' } };

  describe('the time limit of a call', () => {
    it('answers with an error that names the server, and the server is told to stop (T-156, T-157)', async () => {
      const { server, talk } = stepped([createTimeLimit('Notes', { quietMs: 40, longestMs: 1000 })]);
      const { error } = await (await talk()).ask('tools/call', call);
      expect(error).toMatchObject({ code: -32603, data: { reason: 'backend_call_timed_out' } });
      expect(error?.message).toContain('Notes');
      const [request] = server.requests('tools/call');
      const { params } = await server.hears(({ method }) => method === 'notifications/cancelled');
      expect(params?.requestId).toBe(request?.id);
    });

    it('begins anew with progress, up to the longest', async () => {
      const { server, talk } = stepped([createTimeLimit('Notes', { quietMs: 120, longestMs: 400 })]);
      const { ask, say, hears } = await talk();
      say({ id: 'long', method: 'tools/call', params: call });
      const { id } = await server.hears(({ method }) => method === 'tools/call');
      const startedMs = performance.now();
      const timer = setInterval(
        () => server.say({ method: 'notifications/progress', params: { progressToken: id, progress: 1 } }),
        30,
      );
      const { error } = await hears((message) => message.id === 'long');
      clearInterval(timer);
      expect(error?.data).toEqual({ reason: 'backend_call_timed_out' });
      expect(performance.now() - startedMs).toBeGreaterThan(300);
      const { error: quiet } = await ask('tools/call', call);
      expect(quiet?.data).toEqual({ reason: 'backend_call_timed_out' });
    });

    it('lets others go on, and drops the answer that comes too late', async () => {
      const { server, talk } = stepped([createTimeLimit('Notes', { quietMs: 50, longestMs: 1000 })], {
        'tools/list': () => ({ result: { tools: [] } }),
      });
      const { ask, heard } = await talk();
      const late = ask('tools/call', call, 'late');
      expect((await ask('tools/list')).result).toEqual({ tools: [] });
      await late;
      const [request] = server.requests('tools/call');
      server.say({ id: request?.id, result: { content: [] } });
      await pause(20);
      expect(heard.filter(({ id }) => id === 'late')).toHaveLength(1);
    });

    it('is not for the start of a server, which has a limit of its own', () => {
      const { cares } = createTimeLimit('Notes', { quietMs: 50, longestMs: 1000 });
      expect(['initialize', 'server/discover'].map(cares)).toEqual([false, false]);
      expect(['tools/call', 'ping'].map(cares)).toEqual([true, true]);
    });

    it.each<[string, () => Promise<Answer>, number]>([
      ['answered', async () => ({ result: {} }), 0],
      ['broken off', () => Promise.reject(new Error('broken')), 0],
      ['out of time', () => new Promise(() => undefined), 50],
    ])(
      'runs until its call is %s and no longer, whatever the server still tells',
      async (_end, next, afterMs) => {
        vi.useFakeTimers();
        onTestFinished(() => void vi.useRealTimers());
        let tell = (): void => undefined;
        const passing = {
          onProgress(told: () => void) {
            tell = told;
          },
        } as unknown as Passing;
        const { answer } = createTimeLimit('Notes', { quietMs: 50, longestMs: 1000 });
        const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call } as const;
        const ended = answer(request, passing, next).catch((error: Error) => error.message);
        expect(vi.getTimerCount()).toBe(1);
        await vi.advanceTimersByTimeAsync(afterMs);
        await ended;
        tell();
        expect(vi.getTimerCount()).toBe(0);
      },
    );
  });
});
