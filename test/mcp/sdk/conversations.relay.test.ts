import { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import type { ChangeRelay, Conversations, ServerSource } from '../../../src/mcp/protocol.ts';
import { createConversations } from '../../../src/mcp/sdk/conversations.ts';
import { accountKeyPrefix } from '../../../src/oauth/auth-info.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { linkRelays } from '../support/relays.ts';
import { callerNamed, openTalk, type Talk } from './support/talk.ts';

function makeServer(): McpServer {
  const capabilities = { tools: { listChanged: true }, resources: { subscribe: true } };
  const server = new McpServer({ name: 'x', version: '1' }, { capabilities });
  for (const method of ['resources/subscribe', 'resources/unsubscribe'] as const)
    server.server.setRequestHandler(method, () => ({}));
  server.registerResource('a', 'test://a', {}, ({ href }) => ({ contents: [{ uri: href, text: 'a' }] }));
  server.registerTool('update', { inputSchema: z.object({ uri: z.string() }) }, async ({ uri }) => {
    await server.server.sendResourceUpdated({ uri });
    await server.server.sendToolListChanged();
    return { content: [] };
  });
  return server;
}

/** Conversations of a node, closed after the test. */
function startNode(sharing: ServerSource['sharing'], relay: ChangeRelay): Conversations {
  const logger = createLogger('silent');
  const conversations = createConversations({ source: { sharing, create: makeServer }, relay, logger });
  onTestFinished(() => conversations.close());
  return conversations;
}

async function subscribe(conversations: Conversations, subject: string, ...uris: string[]): Promise<Talk> {
  const talk = await openTalk(conversations, { subject });
  for (const uri of uris) await talk.ask('resources/subscribe', { uri });
  return talk;
}

/** Changes that a client heard: URIs, and methods of lists. */
const changesOf = ({ heard }: Talk): unknown[] =>
  heard.flatMap(({ method, params }) => (method === undefined ? [] : [params?.uri ?? method]));

const toolsChanged = 'notifications/tools/list_changed';

describe('a change of a server of many conversations', () => {
  it.each(['shared', 'single', 'everyone'] as const)(
    'that is %s reaches the conversations at the other node that it concerns, and is not told back',
    async (sharing) => {
      const { here, there, told } = linkRelays();
      const source = await subscribe(startNode(sharing, here), 'ann');
      const other = startNode(sharing, there);
      const [subscribed, others] = [await subscribe(other, 'bob', 'test://a'), await subscribe(other, 'eve')];
      await source.ask('tools/call', { name: 'update', arguments: { uri: 'test://a' } });
      await subscribed.hears(({ method }) => method === toolsChanged);
      await others.hears(({ method }) => method === toolsChanged);
      expect(changesOf(subscribed)).toEqual(['test://a', toolsChanged]);
      expect(changesOf(others)).toEqual([toolsChanged]);
      expect(told.map(({ account }) => account)).toEqual([undefined, undefined]);
      expect(changesOf(source)).toEqual([toolsChanged]);
    },
  );

  it('that serves one account reaches no other account at the other node (T-158)', async () => {
    const { here, there, told } = linkRelays();
    const source = await subscribe(startNode('account', here), 'ann');
    const other = startNode('account', there);
    const [own, foreign] = [
      await subscribe(other, 'ann', 'test://a'),
      await subscribe(other, 'bob', 'test://a'),
    ];
    await source.ask('tools/call', { name: 'update', arguments: { uri: 'test://a' } });
    await own.hears(({ method }) => method === toolsChanged);
    expect(changesOf(own)).toEqual(['test://a', toolsChanged]);
    expect(await foreign.ask('ping')).toHaveProperty('result');
    expect(changesOf(foreign)).toEqual([]);
    expect(new Set(told.map(({ account }) => account))).toEqual(
      new Set([accountKeyPrefix(callerNamed('ann'))]),
    );
  });

  it.each(['each', 'principal'] as const)('with a server %s stays at its node', async (sharing) => {
    const { here, told } = linkRelays();
    const source = await subscribe(startNode(sharing, here), 'ann');
    await source.ask('tools/call', { name: 'update', arguments: { uri: 'test://a' } });
    expect(told).toEqual([]);
  });

  it('that may have been lost is told for every list and each subscribed resource', async () => {
    const { there, lose } = linkRelays();
    for (const sharing of ['shared', 'account'] as const) {
      const talk = await subscribe(startNode(sharing, there), 'ann', 'test://a', 'test://b');
      lose();
      await talk.hears(({ params }) => params?.uri === 'test://b');
      const lists = [toolsChanged, 'notifications/resources/list_changed'];
      expect(changesOf(talk)).toEqual([...lists, 'test://a', 'test://b']);
    }
  });

  it('is heard as one of the four known ones only', async () => {
    const { here, there } = linkRelays();
    const talk = await subscribe(startNode('shared', there), 'ann', 'test://a');
    here.tell({ method: 'notifications/message', params: { data: 'x' } });
    here.tell({ method: 'notifications/resources/updated', params: { uri: 'test://a', extra: 'x' } });
    await talk.hears(({ params }) => params?.uri === 'test://a');
    expect(talk.heard.filter(({ method }) => method !== undefined)).toMatchObject([
      { params: { uri: 'test://a' } },
    ]);
    expect(JSON.stringify(talk.heard)).not.toContain('extra');
  });
});
