import { describe, expect, it, vi } from 'vitest';
import { startModernServer } from '../../support/modern-server.ts';
import { startSessionServer } from '../../support/sdk-servers.ts';
import { bridgedHost } from './support/host.ts';
import { hostV2 } from './support/sdk-hosts.ts';

async function connected() {
  const server = await startModernServer();
  const host = bridgedHost(server.url);
  const client = hostV2();
  await client.connect(host.transport);
  return { server, client, ...host };
}

const textOf = (result: object) => (result as { content: { text: string }[] }).content[0]?.text;

describe('a host of 2026-07-28 with a server of the same', () => {
  it('speaks it all the way, with the headers that HTTP asks for (B5-03)', async () => {
    const { client, server } = await connected();
    expect(client.getProtocolEra()).toBe('modern');
    expect(textOf(await client.callTool({ name: 'echo', arguments: { text: 'a' } }))).toBe('a');
    expect(server.headers.get('tools/call')).toMatchObject({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'echo',
    });
    expect(server.asked).not.toContain('initialize');
  });

  it('answers what tools ask in the middle: the person, the model, the roots (C4-05)', async () => {
    const { client } = await connected();
    expect(textOf(await client.callTool({ name: 'greet' }))).toBe('Hello, Ada');
    expect(textOf(await client.callTool({ name: 'think' }))).toContain('thought');
    expect(textOf(await client.callTool({ name: 'where' }))).toBe('file:///work');
  });

  it('has its parameters sent as headers, whether it listed the tools or not (B5-08, B5-11)', async () => {
    const { client, server } = await connected();
    const call = () => client.callTool({ name: 'travel', arguments: { region: 'Zürich' } });
    expect(textOf(await call())).toBe('Zürich');
    expect(server.headers.get('tools/call')).toMatchObject({ 'mcp-param-region': '=?base64?WsO8cmljaA==?=' });
    expect(server.asked.filter((one) => one === 'tools/call')).toHaveLength(2);
    server.asked.length = 0;
    await call();
    expect(server.asked).toEqual(['tools/call']);
  });

  it('cancels a call by a notification, which closes its stream (B1-08, B5-14)', async () => {
    const { client, server } = await connected();
    const abort = new AbortController();
    const call = client.callTool({ name: 'wait' }, { signal: abort.signal });
    await vi.waitFor(() => expect(server.asked).toContain('tools/call'));
    abort.abort();
    await expect(call).rejects.toThrow();
    await vi.waitFor(() => expect(server.cancelled()).toBe(1));
    expect(server.asked).not.toContain('notifications/cancelled');
  });

  it('subscribes, and hears that lists have changed (C5-03)', async () => {
    const { client, server } = await connected();
    const changed = vi.fn();
    client.setNotificationHandler('notifications/tools/list_changed', changed);
    const subscription = await client.listen({ toolsListChanged: true });
    server.notify.toolsChanged();
    await vi.waitFor(() => expect(changed).toHaveBeenCalledOnce());
    await subscription.close();
  });

  it('is subscribed again after the connection broke, without noticing (B1-06, C5-03)', async () => {
    const { client, server, heard } = await connected();
    const changed = vi.fn();
    client.setNotificationHandler('notifications/tools/list_changed', changed);
    const subscription = await client.listen({ toolsListChanged: true });
    server.cut();
    await vi.waitFor(
      () => {
        server.notify.toolsChanged();
        expect(changed).toHaveBeenCalled();
      },
      { timeout: 5_000 },
    );
    expect(server.asked.filter((one) => one === 'subscriptions/listen')).toHaveLength(2);
    const acknowledged = heard.filter(
      (one) => 'method' in one && one.method === 'notifications/subscriptions/acknowledged',
    );
    expect(acknowledged).toHaveLength(1);
    await subscription.close();
  });

  it('gets what it asks for again where the connection broke, and an error for a call (B5-14)', async () => {
    const { client, server } = await connected();
    const call = client.callTool({ name: 'wait' });
    await vi.waitFor(() => expect(server.asked).toContain('tools/call'));
    server.cut();
    await expect(call).rejects.toThrow();
    expect(server.asked.filter((one) => one === 'tools/call')).toHaveLength(1);
    expect((await client.listTools()).tools.length).toBeGreaterThan(0);
  });
});

describe('a host of 2026-07-28 with an older server', () => {
  it('learns that it has to initialize, and does (B1-09)', async () => {
    const server = await startSessionServer();
    const { transport } = bridgedHost(server.url);
    const client = hostV2();
    await client.connect(transport);
    expect(client.getProtocolEra()).toBe('legacy');
    expect(textOf(await client.callTool({ name: 'echo', arguments: { text: 'a' } }))).toBe('a');
  });
});
