import { setTimeout as pause } from 'node:timers/promises';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CreateMessageResultSchema,
  ElicitResultSchema,
  ListRootsResultSchema,
  LoggingMessageNotificationSchema,
  ResourceListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it, vi } from 'vitest';
import { echoServer, startEventStreamServer, startSessionServer } from '../../support/sdk-servers.ts';
import { bridgedHost } from './support/host.ts';
import { hostV1 } from './support/sdk-hosts.ts';

const text = (value: unknown) => ({ content: [{ type: 'text' as const, text: JSON.stringify(value) }] });
const textOf = (result: object) => (result as { content: { text: string }[] }).content[0]?.text;
const requestedSchema = { type: 'object', properties: {} };
const messages = [{ role: 'user', content: { type: 'text', text: 'x' } }];

/** A server that turns to its client in every way there is. */
function askingServer(cancelled: () => void = () => undefined) {
  const made = echoServer();
  made.registerTool('greet', {}, async ({ sendRequest }) =>
    text(
      await sendRequest(
        { method: 'elicitation/create', params: { message: 'Who?', requestedSchema } as never },
        ElicitResultSchema,
      ),
    ),
  );
  made.registerTool('think', {}, async ({ sendRequest }) =>
    text(
      await sendRequest(
        { method: 'sampling/createMessage', params: { messages, maxTokens: 10 } as never },
        CreateMessageResultSchema,
      ),
    ),
  );
  made.registerTool('where', {}, async ({ sendRequest }) =>
    text(await sendRequest({ method: 'roots/list' }, ListRootsResultSchema)),
  );
  made.registerTool('work', {}, async ({ _meta, sendNotification }) => {
    const progressToken = _meta?.progressToken ?? '';
    await sendNotification({
      method: 'notifications/progress',
      params: { progressToken, progress: 1, total: 2 },
    });
    await made.server.sendLoggingMessage({ level: 'info', data: 'working' });
    made.sendResourceListChanged();
    // SDK v1 drops progress that arrives in one piece with its result.
    await pause(20);
    return text('done');
  });
  made.registerTool('wait', {}, async ({ signal }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    cancelled();
    return text('never heard');
  });
  return made;
}

describe.each([
  ['streamable HTTP', startSessionServer],
  ['the old HTTP+SSE', startEventStreamServer],
])('a host with a server of its own revisions over %s', (_name, start) => {
  const connected = async (cancelled?: () => void) => {
    const server = await start(() => askingServer(cancelled));
    const host = bridgedHost(server.url);
    const client = hostV1();
    await client.connect(host.transport as Transport);
    return { server, client, ...host };
  };

  it('is asked by the server: the person, the model, the roots (C7-01, C7-02, C7-03)', async () => {
    const { client } = await connected();
    expect(textOf(await client.callTool({ name: 'greet' }))).toContain('Ada');
    expect(textOf(await client.callTool({ name: 'think' }))).toContain('thought');
    expect(textOf(await client.callTool({ name: 'where' }))).toContain('file:///work');
  });

  it('hears progress, the log and changes', async () => {
    const { client } = await connected();
    const [progress, logged, changed] = [vi.fn(), vi.fn(), vi.fn()];
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => logged(params.data));
    client.setNotificationHandler(ResourceListChangedNotificationSchema, () => changed());
    await vi.waitFor(async () => {
      await client.callTool({ name: 'work' }, undefined, { onprogress: progress });
      expect(logged).toHaveBeenCalledWith('working');
      expect(changed).toHaveBeenCalled();
    });
    expect(progress).toHaveBeenCalledWith({ progress: 1, total: 2 });
  });

  it('cancels a call (C6-01)', async () => {
    const cancelled = vi.fn();
    const { client, server } = await connected(cancelled);
    const abort = new AbortController();
    const call = client.callTool({ name: 'wait' }, undefined, { signal: abort.signal });
    await vi.waitFor(() => expect(server.asked).toContain('POST tools/call'));
    abort.abort();
    await expect(call).rejects.toThrow();
    await vi.waitFor(() => expect(cancelled).toHaveBeenCalledOnce());
  });

  it('goes on after the server has forgotten the session (B3-11)', async () => {
    const { client, server } = await connected();
    server.forget();
    expect(textOf(await client.callTool({ name: 'where' }))).toContain('file:///work');
  });
});
