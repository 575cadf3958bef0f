import { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import type { ServerContext } from '../../../src/mcp/protocol.ts';
import { createConversations } from '../../../src/mcp/sdk/conversations.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { makeV1, makeV2, nothingSeen } from './support/servers.ts';
import { callerNamed, openTalk, startConversations } from './support/talk.ts';

describe('a server for each conversation', () => {
  it('is made for who opens it, and closed with it', async () => {
    const contexts: ServerContext[] = [];
    const seen = nothingSeen();
    const conversations = createConversations({
      source: {
        sharing: 'each',
        create: (context) => {
          contexts.push(context);
          return makeV2(seen);
        },
      },
      logger: createLogger('silent'),
    });
    const ann = await openTalk(conversations, { subject: 'ann' });
    await openTalk(conversations, { subject: 'bob' });
    expect(contexts).toEqual(['ann', 'bob'].map((name) => ({ era: 'legacy', authInfo: callerNamed(name) })));
    await ann.conversation.end();
    expect([seen.made, seen.closed]).toEqual([2, 1]);
    await conversations.close();
    expect(seen.closed).toBe(2);
  });

  it.each([
    ['v2', makeV2],
    ['v1', makeV1],
  ] as const)('knows the capabilities of its client (SDK %s)', async (_version, make) => {
    const seen = nothingSeen();
    const conversations = startConversations('each', () => make(seen));
    await openTalk(conversations, { capabilities: { roots: { listChanged: true } } });
    const { server } = seen.last as unknown as McpServer;
    expect(server.getClientCapabilities()).toEqual({ roots: { listChanged: true } });
    expect(server.getClientVersion()).toEqual({ name: 'test', version: '1.0.0' });
  });

  it('may ask its client while no call runs, with ids no other request has (T-128)', async () => {
    const seen = nothingSeen();
    const conversations = startConversations('each', () => makeV2(seen));
    const ids: unknown[] = [];
    for (const subject of ['ann', 'bob']) {
      const talk = await openTalk(conversations, { subject, capabilities: { roots: {} } });
      const asking = (seen.last as unknown as McpServer).server.listRoots();
      const { id, relatedTo } = await talk.hears(({ method }) => method === 'roots/list');
      for (let guess = 0; guess < 100; guess++)
        talk.say({ id: guess, result: { roots: [{ uri: 'file:///x' }] } });
      talk.say({ id, result: { roots: [] } });
      expect([(await asking).roots, relatedTo]).toEqual([[], undefined]);
      ids.push(id);
    }
    expect(new Set(ids).size).toBe(2);
  });

  it('passes its cancellation of a question on, and the progress of the answer back', async () => {
    const seen = nothingSeen();
    const talk = await openTalk(
      startConversations('each', () => makeV2(seen)),
      { capabilities: { roots: {} } },
    );
    const { server } = seen.last as unknown as McpServer;
    const abort = new AbortController();
    const progress: number[] = [];
    const onprogress = (step: { progress: number }) => progress.push(step.progress);
    const asking = server.listRoots(undefined, { signal: abort.signal, onprogress });
    const { id, params } = await talk.hears(({ method }) => method === 'roots/list');
    const meta = params?._meta as { progressToken: unknown } | undefined;
    const progressToken = meta?.progressToken;
    talk.say({ method: 'notifications/progress', params: { progressToken: 0, progress: 7 } });
    talk.say({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
    await expect.poll(() => progress, { interval: 1 }).toEqual([1]);
    abort.abort('never mind');
    await expect(asking).rejects.toThrow();
    const cancelled = await talk.hears(({ method }) => method === 'notifications/cancelled');
    expect(cancelled.params?.requestId).toBe(id);
  });

  it('is refused where a factory gives it twice, or where it is no MCP server', async () => {
    const server = new McpServer({ name: 'x', version: '1' });
    const same = startConversations('each', () => server);
    await openTalk(same);
    await expect(openTalk(same)).rejects.toThrow('the same MCP server twice');
    await expect(openTalk(startConversations('each', () => undefined))).rejects.toThrow('no MCP server');
  });

  it.each([
    ['v2', makeV2],
    ['v1', makeV1],
  ] as const)('negotiates only revisions that are served (SDK %s)', async (_version, make) => {
    const conversations = startConversations('each', () => make(nothingSeen()));
    const versionFor = async (protocolVersion: string) =>
      (await openTalk(conversations, { protocolVersion })).result.protocolVersion;
    expect(await versionFor('2024-11-05')).toBe('2024-11-05');
    expect(await versionFor('2024-10-07')).toBe('2025-11-25');
  });

  it('answers what is no initialize with its error, and is closed', async () => {
    const seen = nothingSeen();
    const conversations = startConversations('each', () => makeV2(seen));
    const wrong = { protocolVersion: 7 as unknown as string };
    await expect(openTalk(conversations, wrong)).rejects.toThrow();
    expect(seen.closed).toBe(1);
  });
});
