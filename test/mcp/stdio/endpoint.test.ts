import { Client } from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { call, rpc, testSource, textAnswer, until } from '../support/served-transport.ts';
import { connectHost, initialize, modern } from './connected-host.ts';

describe('an endpoint for a local host', () => {
  it.each(['each', 'shared'] as const)(
    'serves the SDK’s client in both eras, for the account it acts for (%s)',
    async (sharing) => {
      for (const mode of ['legacy', 'auto', { pin: '2026-07-28' }] as const) {
        const { transport } = connectHost(testSource(sharing).source);
        const client = new Client({ name: 'host', version: '1' }, { versionNegotiation: { mode } });
        await client.connect(transport);
        onTestFinished(() => client.close());
        expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['echo', 'wait', 'ask']);
        const { content } = await client.callTool({ name: 'echo', arguments: { text: 'hello' } });
        expect(content, JSON.stringify(mode)).toEqual([{ type: 'text', text: 'hello of ann' }]);
      }
    },
  );

  it('goes on after garbage, answers each fault, and does not answer blank lines (T-150)', async () => {
    const { say, hear } = connectHost(testSource().source);
    say(
      'garbage',
      '',
      '\r',
      '{"jsonrpc":"2.0"',
      '[]',
      '{"id":5,"method":"x"}',
      initialize(),
      `${JSON.stringify(rpc(1, 'ping'))}\r`,
    );
    expect(await hear(6)).toMatchObject([
      { id: null, error: { code: -32700 } },
      { id: null, error: { code: -32700 } },
      { id: null, error: { code: -32600 } },
      { id: 5, error: { code: -32600 } },
      { id: 0, result: { protocolVersion: '2025-11-25' } },
      { id: 1, result: {} },
    ]);
  });

  it('answers a line that is too long with an error, skips it and goes on (T-150)', async () => {
    const { say, hear, stdin } = connectHost(testSource().source, { maxLineBytes: 10_000 });
    say(initialize());
    await hear(1);
    for (let part = 0; part < 100; part++) stdin.write('x'.repeat(10_000));
    stdin.write('\n');
    say(rpc(1, 'ping'));
    expect(await hear(3)).toMatchObject([{}, { id: null, error: { code: -32000 } }, { id: 1, result: {} }]);
  });

  it('lets what was asked last be answered when standard input ends, and ends (B1-05)', async () => {
    const { say, lines, stdin, endpoint } = connectHost(testSource().source);
    say(initialize(), call(1, 'echo', { text: 'last' }));
    stdin.end();
    await endpoint.ended;
    expect(lines).toMatchObject([{ id: 0 }, textAnswer(1, 'last of ann')]);
  });

  it.each([
    ['up to 2025-11-25', [initialize()], call(1, 'wait', { ms: 60_000, label: 'running' })],
    [
      'of 2026-07-28',
      [],
      modern(1, 'tools/call', { name: 'wait', arguments: { ms: 60_000, label: 'running' } }),
    ],
  ])(
    'aborts what runs within a second of the end of standard input (%s; B1-05, T-150)',
    async (_era, before, wait) => {
      const { source, seen } = testSource();
      const { say, stdin, endpoint } = connectHost(source);
      say(...before, wait);
      await until(() => seen.started.includes('running'));
      const begun = performance.now();
      stdin.end();
      await endpoint.ended;
      expect(performance.now() - begun).toBeLessThan(1500);
      expect(seen.aborted).toEqual(['running']);
      expect(seen.closed).toBe(seen.made);
    },
  );

  it('ends when nobody reads what it writes any more (T-150)', async () => {
    const { source, seen } = testSource();
    const { say, hear, stdout, endpoint } = connectHost(source);
    say(initialize());
    await hear(1);
    stdout.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    await endpoint.ended;
    expect(seen.closed).toBe(1);
  });

  it('takes no more from a host that does not read the answers', async () => {
    const { say, hear, stdout, stdin } = connectHost(testSource().source);
    say(initialize());
    await hear(1);
    stdout.pause();
    const sent = 3000;
    for (let id = 1; id <= sent; id++) say(call(id, 'echo', { text: 'x'.repeat(100) }));
    await until(() => stdin.isPaused());
    stdout.resume();
    expect(await hear(sent + 1)).toHaveLength(sent + 1);
  });

  it('ends when its server ends the connection', async () => {
    const { source } = testSource();
    const made: { close(): Promise<void> }[] = [];
    const { say, hear, endpoint } = connectHost({
      sharing: 'each',
      create: async (context) => {
        const server = await source.create(context);
        made.push(server);
        return server;
      },
    });
    say(initialize());
    await hear(1);
    await made[0]?.close();
    await endpoint.ended;
  });
});
