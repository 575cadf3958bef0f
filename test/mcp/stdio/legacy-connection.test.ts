import { describe, expect, it } from 'vitest';
import { call, rpc, testSource, textAnswer, until } from '../support/served-transport.ts';
import { connectHost, initialize } from './connected-host.ts';

const cancel = (requestId: unknown) => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
});

describe('a stdio connection of the revisions up to 2025-11-25', () => {
  it.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
    'initializes %s (C2-01, C2-02)',
    async (revision) => {
      const { say, hear } = connectHost(testSource().source);
      say(
        initialize(revision, 'first'),
        { jsonrpc: '2.0', method: 'notifications/initialized' },
        rpc(1, 'tools/list'),
      );
      expect(await hear(2)).toMatchObject([
        { id: 'first', result: { protocolVersion: revision } },
        { id: 1, result: { tools: [{ name: 'echo' }, { name: 'wait' }, { name: 'ask' }] } },
      ]);
    },
  );

  it('answers a batch of 2025-03-26 with one line, when all of it is answered (B1-04, C1-02)', async () => {
    const { say, hear } = connectHost(testSource().source);
    say(initialize('2025-03-26'));
    await hear(1);
    const notification = { jsonrpc: '2.0', method: 'notifications/roots/list_changed' };
    say([call('slow', 'wait', { ms: 50, label: 'slow' }), notification, call(1, 'echo', { text: 'quick' })]);
    say(call(2, 'echo', { text: 'beside' }));
    expect((await hear(3)).slice(1)).toEqual([
      textAnswer(2, 'beside of ann'),
      [textAnswer('slow', 'slow'), textAnswer(1, 'quick of ann')],
    ]);
    say([rpc(3, 'ping')], [notification], rpc(4, 'ping'));
    expect((await hear(5)).slice(3)).toEqual([
      [{ jsonrpc: '2.0', id: 3, result: {} }],
      { jsonrpc: '2.0', id: 4, result: {} },
    ]);
  });

  it.each(['2024-11-05', '2025-06-18', '2025-11-25'])(
    'refuses batches in %s (B1-04, C1-02)',
    async (revision) => {
      const { say, hear } = connectHost(testSource().source);
      say(initialize(revision), [rpc(1, 'ping')], rpc(2, 'ping'));
      expect(await hear(3)).toMatchObject([
        { id: 0 },
        { id: null, error: { code: -32600 } },
        { id: 2, result: {} },
      ]);
    },
  );

  it('wants initialize first and once; a ping may come before (C2-01, C2-03)', async () => {
    const { say, hear } = connectHost(testSource().source);
    say(
      rpc(1, 'ping'),
      rpc(2, 'tools/list'),
      [rpc(3, 'ping')],
      rpc(4, 'initialize', {}),
      initialize(),
      initialize('2025-06-18', 6),
    );
    expect(await hear(6)).toMatchObject([
      { id: 1, result: {} },
      { id: 2, error: { code: -32600, message: expect.stringContaining('initialize first') } },
      { id: null, error: { code: -32600 } },
      { id: 4, error: { code: -32602 } },
      { id: 0, result: {} },
      { id: 6, error: { code: -32600 } },
    ]);
  });

  it('refuses an id that is being answered (T-142)', async () => {
    const { say, lines } = connectHost(testSource().source);
    say(
      initialize('2025-03-26'),
      call(1, 'wait', { ms: 100, label: 'a' }),
      rpc(1, 'ping'),
      [rpc(1, 'ping')],
      [rpc(2, 'ping'), rpc(2, 'ping')],
    );
    await until(() => lines.some((line) => line.id === 1 && 'result' in line));
    expect(lines.filter((line) => 'error' in line)).toMatchObject([{ id: 1 }, { id: null }, { id: null }]);
    say(rpc(1, 'ping'));
    await until(() => lines.filter((line) => line.id === 1 && 'result' in line).length === 2);
  });

  it('does not answer what was cancelled, in a batch neither (C6-01, T-141)', async () => {
    const { source, seen } = testSource();
    const { say, lines } = connectHost(source);
    say(initialize('2025-03-26'), call(1, 'wait', { ms: 60_000, label: 'one' }));
    say([call(2, 'wait', { ms: 60_000, label: 'two' }), rpc(3, 'ping')]);
    await until(() => seen.started.length === 2);
    say(cancel(1), cancel(2), cancel(99), rpc(4, 'ping'));
    await until(() => lines.some((line) => line.id === 4));
    expect(seen.aborted).toEqual(['one', 'two']);
    const answers = lines.filter((line) => !('method' in line));
    expect(answers).toMatchObject([{ id: 0 }, [{ id: 3 }], { id: 4 }]);
  });

  it('lets the server ask the host, and tell progress', async () => {
    const { say, lines } = connectHost(testSource().source);
    const opening = initialize();
    opening.params.capabilities = { sampling: {} };
    const progressing = rpc(2, 'tools/call', {
      name: 'wait',
      arguments: { ms: 1, label: 'a' },
      _meta: { progressToken: 'p' },
    });
    say(opening, call(1, 'ask'), progressing);
    await until(() => lines.some((line) => line.method === 'sampling/createMessage'));
    const asked = lines.find((line) => line.method === 'sampling/createMessage');
    const result = { role: 'assistant', model: 'm', content: { type: 'text', text: 'yes' } };
    say({ jsonrpc: '2.0', id: asked?.id, result });
    await until(() => lines.some((line) => line.id === 1));
    expect(lines).toContainEqual({ jsonrpc: '2.0', id: 1, result: { content: [] } });
    expect(lines).toContainEqual({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: 'p', progress: 1 },
    });
  });

  it('says so when the server cannot be made, and names the reason in the log alone', async () => {
    const { say, hear, log } = connectHost({
      sharing: 'each',
      create: () => Promise.reject(new Error('no such database')),
    });
    say(initialize());
    const lines = await hear(1);
    expect(lines).toMatchObject([{ id: 0, error: { code: -32603 } }]);
    expect(JSON.stringify(lines)).not.toContain('database');
    expect(log.join()).toContain('no such database');
  });
});
