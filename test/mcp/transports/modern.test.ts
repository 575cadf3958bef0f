import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { createCallLimit } from '../../../src/mcp/call-limit.ts';
import { callerOf } from '../../../src/mcp/caller.ts';
import { modernRequest, readAnswer, readAnswers } from '../support/gate.ts';
import { type ModernEndpoint, oneServer, serverEach, startModern } from '../support/modern-endpoint.ts';
import { addTools, type Seen } from '../support/modern-tools.ts';

/** Every rule here holds for one server of all callers and for a server each. */
const kinds = [
  ['one server for all', oneServer],
  ['a server each', serverEach],
] as const;

describe.each(kinds)('2026-07-28 with %s', (_kind, sourceOf) => {
  const start = async (
    options: Parameters<typeof startModern>[1] = {},
  ): Promise<{ endpoint: ModernEndpoint; seen: Seen }> => {
    const seen: Seen = { started: [], aborted: [], finished: [] };
    return {
      endpoint: await startModern(
        sourceOf((server) => addTools(server, seen)),
        options,
      ),
      seen,
    };
  };

  it('serves the client of the SDK: discovery, lists, calls, prompts and resources (C3-03)', async () => {
    const { endpoint } = await start();
    const client = await endpoint.connect('ann');
    expect(client.getServerVersion()).toMatchObject({ name: 'test' });
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('whoami');
    expect(await client.callTool({ name: 'whoami', arguments: {} })).toMatchObject({
      content: [{ text: 'ann' }],
    });
    expect(await client.readResource({ uri: 'test://a' })).toMatchObject({ contents: [{ text: 'a' }] });
    expect(await client.getPrompt({ name: 'hello' })).toMatchObject({ messages: [{ role: 'user' }] });
  });

  it('answers with JSON where a tool says nothing before its answer (B5-13)', async () => {
    const { endpoint } = await start();
    const response = await endpoint.call('ann', 'tools/call', { name: 'whoami', arguments: {} }, 7);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(await readAnswer(response)).toMatchObject({
      id: 7,
      result: {
        resultType: 'complete',
        content: [{ text: 'ann' }],
        _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'test' } },
      },
    });
  });
});
