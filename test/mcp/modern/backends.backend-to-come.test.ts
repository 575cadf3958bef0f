import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createPendingBackend } from '../../../src/mcp/modern/backends.ts';
import { internalRequest } from '../../../src/mcp/modern/internal-call.ts';
import type { Answer, Backend, Call, Message } from '../../../src/mcp/protocol.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { createCaller } from '../support/modern-calls.ts';

const answered: Answer = { status: 200, result: {} };

describe('what stands for a backend that is not known yet', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** @param wrong what the backend finds wrong with a request */
  function start(wrong?: Answer) {
    const happened: unknown[] = [];
    const { promise, resolve, reject } = Promise.withResolvers<Backend>();
    const backend: Backend = {
      checksEnvelope: 'all',
      begin(call) {
        happened.push('begun');
        call.answer(answered);
        return () => happened.push('cancelled');
      },
      notify: ({ method }) => void happened.push(method),
      discover: async () => ({ capabilities: {}, serverInfo: 'there' }),
      close: async () => {},
    };
    const lines: string[] = [];
    const toCome = createPendingBackend(promise, {
      check: async () => wrong,
      logger: createLogger('error', (line) => lines.push(line)),
    });
    const request = internalRequest('tools/call', { name: 'a' });
    Object.assign(request.params?._meta as object, { progressToken: 'mine' });
    const told: Message[] = [];
    const call: Call = {
      request,
      caller: createCaller(),
      notify: (notification) => told.push(notification),
      answer: (answer) => happened.push(answer),
    };
    return { toCome, call, told, happened, lines, come: () => resolve(backend), fail: reject };
  }

  it('tells that a server starts, and hands the request over when it is there', async () => {
    const { toCome, call, told, happened, come } = start();
    toCome.begin(call);
    await vi.advanceTimersByTimeAsync(6000);
    expect(told.map(({ params }) => params)).toEqual([
      { progressToken: 'mine', progress: expect.any(Number), message: 'The MCP server is starting.' },
      { progressToken: 'mine', progress: expect.any(Number), message: 'The MCP server is starting.' },
    ]);
    expect(happened).toEqual([]);
    come();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(happened).toEqual(['begun', answered]);
    expect(told).toHaveLength(2);
  });

  it('cancels at the backend what had begun there, and begins nothing that was cancelled before', async () => {
    const [begun, before] = [start(), start()];
    const cancelBegun = begun.toCome.begin(begun.call);
    before.toCome.begin(before.call)();
    begun.come();
    before.come();
    await vi.advanceTimersByTimeAsync(60_000);
    cancelBegun();
    expect(begun.happened).toEqual(['begun', answered, 'cancelled']);
    expect([before.happened, before.told]).toEqual([[], []]);
  });

  it('answers what only the backend can find wrong, before it is begun', async () => {
    const wrong: Answer = { status: 400, error: { code: -32001, message: 'no' } };
    const { toCome, call, happened, come } = start(wrong);
    toCome.begin(call);
    come();
    await vi.advanceTimersByTimeAsync(0);
    expect(happened).toEqual([wrong]);
  });

  it('answers that the server failed where no backend comes, and the log has the reason', async () => {
    const { toCome, call, happened, lines, fail } = start();
    toCome.begin(call);
    fail(new Error('no database'));
    await vi.advanceTimersByTimeAsync(0);
    expect(happened).toMatchObject([{ status: 500, error: { code: -32603 } }]);
    expect(lines.join()).toContain('no database');
  });

  it('tells the backend what it is told, once it is there, and says what that can do', async () => {
    const { toCome, happened, come } = start();
    toCome.notify({ jsonrpc: '2.0', method: 'notifications/mine' }, createCaller());
    const discovery = toCome.discover(createCaller());
    expect(happened).toEqual([]);
    come();
    expect(await discovery).toMatchObject({ serverInfo: 'there' });
    expect(happened).toEqual(['notifications/mine']);
  });
});
