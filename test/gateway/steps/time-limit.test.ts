import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Answer, Passing } from '../../../src/gateway/steps/step.ts';
import { createTimeLimit } from '../../../src/gateway/steps/time-limit.ts';
import { stepped } from './support/stepped.ts';

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
