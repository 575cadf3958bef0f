import { McpServer as ServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { describe, expect, it, vi } from 'vitest';
import type { Frames, McpLike, Message, ServerSource } from '../../../src/mcp/protocol.ts';
import { createServedMethods } from '../../../src/mcp/reading/methods.ts';
import { openModernConnection } from '../../../src/mcp/stdio/modern-connection.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { authInfoWith } from '../support/auth-info.ts';
import { testSource, until } from '../support/served-transport.ts';
import { modern } from './connected-host.ts';

async function open(named = true) {
  const { source, seen } = testSource();
  const written: unknown[] = [];
  let ended = 0;
  const link = await openModernConnection({
    source,
    served: createServedMethods(),
    write: (message) => written.push(message),
    onEnded: () => ended++,
    logger: createLogger('silent'),
    ...(named ? { authInfo: authInfoWith('all') } : {}),
  });
  if (!link) throw new Error('The server speaks 2026-07-28.');
  const take = (message: unknown) =>
    link.take({ isBatch: false, list: [message as Message], requests: [] } satisfies Frames);
  return { link, take, written, seen, endings: () => ended };
}

const echo = modern(1, 'tools/call', { name: 'echo', arguments: { text: 'a' } });

describe('a stdio connection of 2026-07-28', () => {
  it('brings every message to the server with its caller', async () => {
    const { take, written } = await open();
    await take(echo);
    await until(() => written.length === 1);
    expect(written).toMatchObject([{ id: 1, result: { content: [{ type: 'text', text: 'a of ann' }] } }]);
  });

  it('has no caller where nobody is named: tools that ask for one say so', async () => {
    const { take, written } = await open(false);
    await take(echo);
    await until(() => written.length === 1);
    expect(written).toMatchObject([{ id: 1, result: { isError: true } }]);
  });

  it('keeps a subscription until it ends, with its result (C5-01, C5-02)', async () => {
    const { take, written, link } = await open();
    await take(modern('s', 'subscriptions/listen', { notifications: { toolsListChanged: true } }));
    await until(() => written.length === 1);
    expect(written).toMatchObject([{ method: 'notifications/subscriptions/acknowledged' }]);
    await link.end();
    expect(written[1]).toMatchObject({ id: 's', result: { resultType: 'complete' } });
  });

  it('is none of a server that is older, which is closed', async () => {
    const server = new ServerV1({ name: 'v1', version: '1.0.0' });
    const close = vi.spyOn(server, 'close');
    const source: ServerSource = { sharing: 'each', create: () => server as unknown as McpLike };
    const ends = { served: createServedMethods(), write: () => {}, onEnded: () => {} };
    expect(await openModernConnection({ source, ...ends, logger: createLogger('silent') })).toBeUndefined();
    expect(close).toHaveBeenCalledOnce();
  });

  it('ends its server, and tells no one who asked for that', async () => {
    const { link, seen, take, endings } = await open();
    await take(echo);
    await until(() => seen.made === 1);
    await link.end();
    expect([seen.closed, endings()]).toEqual([1, 0]);
  });
});
