import { expect, test } from 'vitest';
import type { Conversations, Listener, Message } from '../../../src/mcp/protocol.ts';
import { filterLists } from '../../../src/mcp/sdk/conversation-filters.ts';
import { authInfoWith } from '../support/auth-info.ts';

const initialize = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'n', version: '1' },
};
const server = { connect: async () => undefined, close: async () => undefined };
const answer = (id: number, result: Record<string, unknown>) => ({ jsonrpc: '2.0', id, result }) as Message;

test('lists are answered as who asked may see them, other answers and messages as they are', async () => {
  let listener: Listener | undefined;
  const conversations: Conversations = {
    open: async (_initialize, _sender, given) => {
      listener = given;
      const result = {
        protocolVersion: '2025-11-25',
        capabilities: {},
        serverInfo: { name: 's', version: '1' },
      };
      return { conversation: { server, say: () => undefined, end: async () => undefined }, result };
    },
    close: async () => undefined,
  };
  const seen: unknown[] = [];
  const filtered = filterLists(conversations, (method, _result, { subject }, by) => ({
    shown: `${method} to ${subject}`,
    byServer: by === server,
  }));
  const heard: Message[] = [];
  const opening = await filtered.open(
    initialize,
    {},
    { hear: (message) => void heard.push(message), ended: () => seen.push('ended') },
  );
  if ('error' in opening) throw new Error('not opened');
  const ask = (id: number, method: string, subject: string): void =>
    opening.conversation.say({ jsonrpc: '2.0', id, method }, { authInfo: { ...authInfoWith(), subject } });
  ask(1, 'tools/list', 'ann');
  ask(2, 'tools/list', 'bob');
  ask(3, 'tools/call', 'ann');
  listener?.hear(answer(2, { tools: [] }));
  listener?.hear(answer(1, { tools: [] }));
  listener?.hear(answer(3, { content: [] }));
  listener?.hear(answer(1, { tools: ['again'] }));
  listener?.hear({ jsonrpc: '2.0', method: 'notifications/message' });
  listener?.ended();
  expect(heard).toEqual([
    answer(2, { shown: 'tools/list to bob', byServer: true }),
    answer(1, { shown: 'tools/list to ann', byServer: true }),
    answer(3, { content: [] }),
    answer(1, { tools: ['again'] }),
    { jsonrpc: '2.0', method: 'notifications/message' },
  ]);
  expect(seen).toEqual(['ended']);
});
