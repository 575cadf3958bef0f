import { describe, expect, it } from 'vitest';
import { createCallLimit } from '../../../src/mcp/http/limits.ts';
import { isRefusal } from '../../../src/mcp/http/refusal.ts';
import { createStatelessCalls } from '../../../src/mcp/legacy/stateless.ts';
import type { Conversations, Listener } from '../../../src/mcp/protocol.ts';
import { readMessages } from '../../../src/mcp/reading/messages.ts';
import { createScopeGate } from '../../../src/mcp/scopes/scope-gate.ts';
import { createConversations } from '../../../src/mcp/sdk/conversations.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { authInfoWith } from '../support/auth-info.ts';
import { call, rpc, testSource, textAnswer, until } from '../support/served-transport.ts';

function setUp(
  options: {
    timeoutMs?: number;
    maxCalls?: number;
    sharing?: 'each' | 'shared';
    conversations?: Conversations;
  } = {},
) {
  const { timeoutMs = 5000, maxCalls = 100, sharing } = options;
  const logger = createLogger('silent');
  const { source, seen } = testSource(sharing);
  const conversations = options.conversations ?? createConversations({ source, logger });
  const calls = createCallLimit(maxCalls);
  const stopping = new AbortController();
  const gate = createScopeGate({}, 'https://a.example/m');
  const watched = new Set<() => void>();
  const answer = createStatelessCalls({
    conversations,
    gate,
    calls,
    access: {
      watch(_authInfo, onEnd) {
        watched.add(onEnd);
        return () => watched.delete(onEnd);
      },
    },
    timeoutMs,
    stopped: stopping.signal,
    logger,
  });
  return {
    seen,
    calls,
    watched,
    stop: () => stopping.abort(),
    send(body: unknown, onGone: (leave: () => void) => void = () => undefined) {
      const messages = readMessages(body);
      if (isRefusal(messages)) throw new Error(messages.reason);
      const sender = { authInfo: authInfoWith('all') };
      return answer({ messages, protocolVersion: '2025-03-26', sender, onGone, park: () => () => undefined });
    },
  };
}

describe('a call without a session', () => {
  it('has its own conversation, which ends with it', async () => {
    const { send, seen } = setUp();
    expect(await send(call(1, 'echo', { text: 'a' }))).toEqual([textAnswer(1, 'a of ann')]);
    await until(() => seen.closed === 1);
    expect(seen.made).toBe(1);
  });

  it('ends with an error when its caller loses access, and is watched no more when it is over (T-103)', async () => {
    const { send, watched, calls } = setUp();
    await send(call(1, 'echo', { text: 'a' }));
    expect(watched.size).toBe(0);
    const running = send(call(1, 'wait', { ms: 20_000, label: 'long' }));
    await until(() => watched.size === 1);
    for (const onEnd of watched) onEnd();
    expect(await running).toMatchObject([
      { id: 1, error: { message: expect.stringMatching(/access ended/) } },
    ]);
    expect([watched.size, calls.total()]).toEqual([0, 0]);
  });

  it('shares a server where there is one for all: two thousand calls with one id, each its own answer (T-127)', async () => {
    const { send, seen } = setUp({ sharing: 'shared', maxCalls: 10_000 });
    const texts = Array.from({ length: 2000 }, (_, number) => `text ${number}`);
    const outcomes = await Promise.all(texts.map((text) => send(call(1, 'echo', { text }))));
    expect(outcomes).toEqual(texts.map((text) => [textAnswer(1, `${text} of ann`)]));
    expect(seen.made).toBe(1);
  });

  it.each(['each', 'shared'] as const)(
    'tells a tool that asks the client that it cannot, and drops its progress (B7-11, B7-14; %s)',
    async (sharing) => {
      const { send } = setUp({ sharing });
      const asked = await send(call(1, 'ask'));
      expect(asked).toMatchObject([{ id: 1, result: { isError: true } }]);
      expect(await send(call(2, 'wait', { ms: 1, label: 'b' }))).toMatchObject([textAnswer(2, 'b')]);
    },
  );

  it('ends at the time limit with an error for each request that was not answered (B7-09)', async () => {
    const { send, seen } = setUp({ timeoutMs: 100 });
    const outcome = await send([rpc('quick', 'ping'), call('slow', 'wait', { ms: 60_000, label: 'slow' })]);
    expect(outcome).toMatchObject([
      { id: 'quick', result: {} },
      { id: 'slow', error: { code: -32001 } },
    ]);
    await until(() => seen.aborted.includes('slow'));
  });

  it('is aborted, and nothing of it kept, when nobody waits for it any more (B7-13)', async () => {
    const { send, seen, calls } = setUp({ maxCalls: 1 });
    let leave = (): void => undefined;
    const outcome = send(call(1, 'wait', { ms: 60_000, label: 'left' }), (callback) => {
      leave = callback;
    });
    await until(() => seen.started.includes('left'));
    leave();
    expect(await outcome).toEqual([]);
    await until(() => seen.aborted.includes('left') && seen.closed === 1);
    expect(calls.begin('["https://a.example","ann","client-1"]')).toBe(true);
  });

  it('is not answered where its own batch cancels it (T-141)', async () => {
    const { send, seen } = setUp();
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    const wait = call(1, 'wait', { ms: 60_000, label: 'cancelled' });
    expect(await send([wait, rpc(2, 'ping'), cancel])).toMatchObject([{ id: 2, result: {} }]);
    expect(await send([wait, cancel])).toEqual([]);
    expect(seen.closed).toBeGreaterThan(0);
  });

  it.each(['each', 'shared'] as const)(
    'is answered where its method is the name of a notification (server %s; T-135)',
    async (sharing) => {
      const { send } = setUp({ sharing });
      for (const method of ['notifications/initialized', 'notifications/cancelled'])
        expect(await send(rpc(2, method, { requestId: 2 }))).toMatchObject([
          { id: 2, error: { code: -32601 } },
        ]);
    },
  );

  it('hands notifications on, and opens nothing for what means nothing here (B7-07)', async () => {
    const { send, seen } = setUp({ sharing: 'shared' });
    await send([
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 1, result: {} },
    ]);
    expect(seen.made).toBe(0);
    await send(rpc(1, 'ping'));
    expect(await send({ jsonrpc: '2.0', method: 'notifications/roots/list_changed' })).toEqual([]);
  });

  it('counts among the calls of its principal, every request of a batch one', async () => {
    const { send } = setUp({ maxCalls: 2 });
    const three = await send([rpc(1, 'ping'), rpc(2, 'ping'), rpc(3, 'ping')]);
    expect(three).toMatchObject({ reason: 'too_many_calls' });
    expect(await send([rpc(1, 'ping'), rpc(2, 'ping')])).toMatchObject([{ id: 1 }, { id: 2 }]);
  });

  it.each(['each', 'shared'] as const)(
    'is ended with an error for each request when nothing is served any more, and no new one begins (T-181; %s)',
    async (sharing) => {
      const { send, seen, stop } = setUp({ sharing });
      const running = send([rpc('quick', 'ping'), call(1, 'wait', { ms: 60_000, label: 'running' })]);
      await until(() => seen.started.includes('running'));
      stop();
      expect(await running).toMatchObject([
        { id: 'quick', result: {} },
        { id: 1, error: { code: -32603 } },
      ]);
      await until(() => seen.aborted.includes('running'));
      expect(await send(rpc(2, 'ping'))).toMatchObject({ reason: 'closing' });
    },
  );

  it('gets an error when its server ends, refuses to begin, or cannot be made', async () => {
    const opened = (open: (listener: Listener) => ReturnType<Conversations['open']>): Conversations => ({
      open: (_initialize, _sender, listener) => open(listener),
      close: async () => undefined,
    });
    const ends = setUp({
      conversations: opened(async (listener) => {
        listener.ended();
        return { error: { code: -32603, message: 'gone' } };
      }),
    });
    expect(await ends.send(rpc(1, 'ping'))).toMatchObject([{ id: 1, error: { code: -32603 } }]);
    const error = { code: -32602, message: 'Unsupported protocol version' };
    const refuses = setUp({ conversations: opened(async () => ({ error })) });
    expect(await refuses.send(rpc(1, 'ping'))).toMatchObject([{ id: 1, error }]);
    const broken = setUp({ conversations: opened(() => Promise.reject(new Error('no database'))) });
    await expect(broken.send(rpc(1, 'ping'))).rejects.toThrow('no database');
  });
});
