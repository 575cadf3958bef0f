import { describe, expect, it } from 'vitest';
import type { Conversations, Listener, Message } from '../../../src/mcp/protocol.ts';
import { createServedMethods, type OpenMethods } from '../../../src/mcp/reading/methods.ts';
import { guardConversations } from '../../../src/mcp/sdk/conversation-filters.ts';
import { createLogger } from '../../../src/observability/logger.ts';

const initialize = {
  protocolVersion: '2025-11-25',
  capabilities: { sampling: {}, tasks: {} },
  clientInfo: { name: 'n', version: '1' },
};

/** A conversation through the guard: what the server took, what the client heard, and a way to speak for the server. */
async function open(methods: OpenMethods = {}) {
  const taken: Message[] = [];
  const heard: Message[] = [];
  let told: unknown;
  let server: Listener | undefined;
  const behind: Conversations = {
    async open({ capabilities }, _sender, listener) {
      told = capabilities;
      server = listener;
      const conversation = {
        server: { connect: async () => undefined, close: async () => undefined },
        say: (message: Message) => void taken.push(message),
        end: async () => undefined,
      };
      return { conversation, result: { ...initialize, serverInfo: initialize.clientInfo } };
    },
    close: async () => undefined,
  };
  const guarded = guardConversations(behind, createServedMethods(methods), createLogger('silent'));
  const opening = await guarded.open(
    initialize,
    {},
    { hear: (message) => heard.push(message), ended: () => undefined },
  );
  if ('error' in opening) throw new Error(opening.error.message);
  const message = (method: string, id?: number, params?: object) =>
    ({ jsonrpc: '2.0', ...(id !== undefined && { id }), method, ...(params && { params }) }) as Message;
  return {
    taken,
    heard,
    told,
    say: (...of: Parameters<typeof message>) => opening.conversation.say(message(...of), {}),
    serverSays: (...of: Parameters<typeof message>) => server?.hear(message(...of)),
    serverAnswers: (id: number, result: object) =>
      server?.hear({ jsonrpc: '2.0', id, result } as unknown as Message),
  };
}

describe('a guarded conversation', () => {
  it('refuses a request of the client that no revision defines, and the server never sees it (FA-02, T-201)', async () => {
    const { say, taken, heard } = await open();
    for (const [id, method] of ['skills/list', 'Tools/Call', 'tasks/list', 'subscriptions/listen'].entries())
      say(method, id);
    say('notifications/tasks/status');
    expect(taken).toEqual([]);
    expect(
      heard.map((message) => [message.id, (message as { error?: { code: number } }).error?.code]),
    ).toEqual([
      [0, -32601],
      [1, -32601],
      [2, -32601],
      [3, -32601],
    ]);
  });

  it('refuses a request of the server that no revision defines, and the client never hears it (FA-02, T-201)', async () => {
    const { serverSays, taken, heard } = await open();
    serverSays('tools/call', 7, { name: 'x' });
    serverSays('x/ask', 8);
    serverSays('notifications/x');
    expect(heard).toEqual([]);
    expect(taken).toMatchObject([
      { id: 7, error: { code: -32601 } },
      { id: 8, error: { code: -32601 } },
    ]);
  });

  it('lets no request pass that comes without an id, as the steps before a server judge requests (FA-02, T-217)', async () => {
    const { say, taken } = await open();
    say('prompts/get', undefined, { name: 'secret' });
    say('notifications/initialized', 1);
    expect(taken).toEqual([]);
  });

  it('lets pass what was opened by name, in both directions', async () => {
    const { say, serverSays, taken, heard } = await open({ 'x/run': [] });
    say('x/run', 1);
    serverSays('x/run', 2);
    expect([taken.length, heard.length]).toEqual([1, 1]);
  });

  it('ignores the wish for a task, and gives no result of one to the client (FA-03, FA-13)', async () => {
    const { say, serverAnswers, told, taken, heard } = await open();
    say('tools/call', 1, { name: 'a', task: { ttl: 1 } });
    serverAnswers(1, { task: { taskId: 't' } });
    expect(told).toEqual({ sampling: {} });
    expect(taken[0]?.params).toEqual({ name: 'a' });
    expect(heard).toMatchObject([{ id: 1, error: { data: { reason: 'result_not_served' } } }]);
  });
});
