import { Client } from '@modelcontextprotocol/client';
import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { McpLike, ServerSource } from '../../../src/mcp/protocol.ts';
import { rpc, testSource } from '../support/served-transport.ts';
import { connectHost, initialize, modern } from './connected-host.ts';

describe('the era of a stdio connection', () => {
  it('is decided by its first message (B1-09, B5-16)', async () => {
    const { source } = testSource();
    const legacy = connectHost(source);
    legacy.say(initialize(), modern(1, 'server/discover'));
    expect(await legacy.hear(2)).toMatchObject([
      { id: 0, result: {} },
      { id: 1, error: { code: -32601 } },
    ]);
    const newer = connectHost(source);
    newer.say(modern(1, 'tools/list'));
    expect(await newer.hear(1)).toMatchObject([{ id: 1, result: { resultType: 'complete' } }]);
    newer.say(initialize('2025-11-25', 2));
    expect((await newer.hear(2))[1]).toMatchObject({ id: 2, error: { code: -32022 } });
  });

  it('may still be an older one after server/discover (B1-09)', async () => {
    const { source, seen } = testSource();
    const { say, hear } = connectHost(source);
    say(modern(1, 'server/discover'));
    expect(await hear(1)).toMatchObject([{ id: 1, result: { supportedVersions: ['2026-07-28'] } }]);
    say(initialize('2025-06-18', 2), rpc(3, 'tools/list'));
    expect(await hear(3)).toMatchObject([
      {},
      { id: 2, result: { protocolVersion: '2025-06-18' } },
      { id: 3, result: {} },
    ]);
    expect([seen.made, seen.closed]).toEqual([2, 1]);
  });

  it('is an older one where the server speaks no other: of the SDK’s version 1, or one that was brought ready-made', async () => {
    const v1: ServerSource = {
      sharing: 'each',
      create: () => {
        const server = new McpServerV1({ name: 'v1', version: '1' });
        server.registerTool('greet', {}, () => ({ content: [{ type: 'text' as const, text: 'hi' }] }));
        return server as unknown as McpLike;
      },
    };
    const [ready] = [await testSource().source.create({ era: 'legacy' })];
    const single: ServerSource = { sharing: 'single', create: () => ready };
    for (const source of [v1, single]) {
      const { transport } = connectHost(source);
      const client = new Client({ name: 'host', version: '1' }, { versionNegotiation: { mode: 'auto' } });
      await client.connect(transport);
      onTestFinished(() => client.close());
      expect((await client.listTools()).tools.length).toBeGreaterThan(0);
    }
  });

  it('of 2026-07-28 has no batches (C1-02)', async () => {
    const { say, hear } = connectHost(testSource().source);
    say(modern(1, 'tools/list'));
    await hear(1);
    say([modern(2, 'tools/list')]);
    expect(await hear(2)).toMatchObject([{ id: 1 }, { id: null, error: { code: -32600 } }]);
  });

  it('is not decided by a response nobody asked for', async () => {
    const { say, hear } = connectHost(testSource().source);
    say({ jsonrpc: '2.0', id: 1, result: {} }, modern(2, 'tools/list'));
    expect(await hear(1)).toMatchObject([{ id: 2, result: { resultType: 'complete' } }]);
  });
});
