import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  LoggingMessageNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it, vi } from 'vitest';
import { startModernServer } from '../../support/modern-server.ts';
import { bridgedHost } from './support/host.ts';
import { hostV1 } from './support/sdk-hosts.ts';

async function connected() {
  const server = await startModernServer();
  const host = bridgedHost(server.url);
  const client = hostV1();
  await client.connect(host.transport as Transport);
  return { server, client, ...host };
}

const textOf = (result: object) => (result as { content: { text: string }[] }).content[0]?.text;

describe('a host up to 2025-11-25 with a server of 2026-07-28 alone', () => {
  it('is told in initialize what the server said of itself (B5-16)', async () => {
    const { client, server } = await connected();
    expect(client.getServerVersion()).toMatchObject({ name: 'modern' });
    expect(client.getInstructions()).toBe('Be kind.');
    expect(client.getServerCapabilities()).toMatchObject({ tools: { listChanged: true } });
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('echo');
    expect(server.asked.slice(0, 2)).toEqual(['initialize', 'server/discover']);
    await client.ping();
  });

  it('calls tools, and answers what they ask in the middle: the person, the model, the roots (C4-05)', async () => {
    const { client } = await connected();
    const call = async (name: string, args = {}) => textOf(await client.callTool({ name, arguments: args }));
    expect(await call('echo', { text: 'a' })).toBe('a');
    expect(await call('greet')).toBe('Hello, Ada');
    expect(await call('think')).toContain('thought');
    expect(await call('where')).toBe('file:///work');
  });

  it('hears progress under its own token, and the log from the level it set', async () => {
    const { client } = await connected();
    const logged = vi.fn();
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => logged(params.data));
    await client.setLoggingLevel('info');
    const progress = vi.fn();
    await client.callTool({ name: 'work' }, undefined, { onprogress: progress });
    expect(progress).toHaveBeenCalledWith({ progress: 1, total: 2 });
    expect(logged).toHaveBeenCalledWith('working');
  });

  it('cancels a call by closing its stream (B5-14)', async () => {
    const { client, server } = await connected();
    const abort = new AbortController();
    const call = client.callTool({ name: 'wait' }, undefined, { signal: abort.signal });
    await vi.waitFor(() => expect(server.asked).toContain('tools/call'));
    abort.abort();
    await expect(call).rejects.toThrow();
    await vi.waitFor(() => expect(server.cancelled()).toBe(1));
  });

  it('hears that lists have changed (C5-03)', async () => {
    const { client, server } = await connected();
    const changed = vi.fn();
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => changed());
    await vi.waitFor(() => expect(server.asked).toContain('subscriptions/listen'));
    await vi.waitFor(() => {
      server.notify.toolsChanged();
      expect(changed).toHaveBeenCalled();
    });
  });

  it('is subscribed again after the connection broke (C5-03)', async () => {
    const { client, server } = await connected();
    const changed = vi.fn();
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => changed());
    await vi.waitFor(() => expect(server.asked).toContain('subscriptions/listen'));
    server.cut();
    await vi.waitFor(
      () => {
        server.notify.toolsChanged();
        expect(changed).toHaveBeenCalled();
      },
      { timeout: 5_000 },
    );
    expect(server.asked.filter((one) => one === 'subscriptions/listen').length).toBeGreaterThan(1);
  });

  it('gets the errors of the server as they are', async () => {
    const { client } = await connected();
    await expect(client.callTool({ name: 'none' })).rejects.toMatchObject({ code: -32602 });
    await expect(client.listPrompts()).rejects.toThrow();
  });
});
