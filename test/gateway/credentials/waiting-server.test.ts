import { expect, it } from 'vitest';
import {
  credentialMissing,
  credentialUnavailable,
} from '../../../src/gateway/credentials/credential-errors.ts';
import type { CredentialOwner, Credentials } from '../../../src/gateway/credentials/credentials.ts';
import { withWaitingServers } from '../../../src/gateway/credentials/waiting-server.ts';
import type { McpLike, Message, ServerSource } from '../../../src/mcp/protocol.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { authInfoWith } from '../../mcp/support/auth-info.ts';

const caller = authInfoWith('mcp');
const missing = credentialMissing(
  { backend: 'Notion' },
  {
    name: 'credential-notion',
    key: 'k',
    message: 'It needs your key.',
    url: 'https://x/',
    isGiven: async () => false,
  },
);
const unreadable = credentialUnavailable({ backend: 'Notion', label: 'your key' });

/** A source whose servers take note of what they hear, and a front that talks with one. */
async function talk(state: {
  isGiven: boolean;
  /** The database cannot be read. */
  isUnreadable?: boolean;
  startError?: object;
  connectError?: Error;
  capabilities?: object;
}) {
  const log: string[] = [];
  const heard: Message[] = [];
  let closed = 0;
  const source: ServerSource = {
    sharing: 'principal',
    create: (): McpLike => ({
      async connect(transport) {
        if (state.connectError) throw state.connectError;
        transport.onmessage = (message) => {
          const { id, method } = message as Message;
          heard.push(message as Message);
          if (id === undefined) return;
          const answer =
            method === 'initialize' && state.startError
              ? { error: state.startError }
              : { result: { by: method, capabilities: state.capabilities ?? {} } };
          void transport.send({ jsonrpc: '2.0', id, ...answer } as never);
        };
        await transport.start();
      },
      close: async () => void closed++,
    }),
    modern: async () => 'a backend' as never,
  };
  let given: ((account: CredentialOwner) => void) | undefined;
  const find = async () => {
    if (state.isUnreadable) return { error: unreadable };
    return state.isGiven ? ({} as Credentials) : { error: missing };
  };
  const waiting = withWaitingServers(
    source,
    {
      find,
      onChange: () => () => undefined,
      onGiven(tell) {
        given = tell;
        return () => {
          given = undefined;
        };
      },
    },
    { name: 'Notion', logger: createLogger('error', (line) => log.push(line)) },
  );
  const server = await waiting.create({ era: 'legacy', authInfo: caller });
  const said: Message[] = [];
  const transport = {
    start: async () => undefined,
    close: async () => undefined,
    send: async (message: unknown) => void said.push(message as Message),
    onmessage: undefined as ((message: never) => void) | undefined,
  };
  await server.connect(transport as never);
  const tell = async (message: object): Promise<void> => {
    transport.onmessage?.({ jsonrpc: '2.0', ...message } as never);
    await new Promise((resolve) => setTimeout(resolve, 10));
  };
  const initialize = {
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {} },
  };
  const give = async (account: CredentialOwner = caller): Promise<void> => {
    given?.(account);
    await new Promise((resolve) => setTimeout(resolve, 10));
  };
  return {
    ...{ log, heard, said, tell, initialize, server, waiting },
    ...{ closed: () => closed, give, isHeard: () => given !== undefined },
  };
}

it('who has given everything talks with the server itself', async () => {
  const { heard, said, tell, initialize } = await talk({ isGiven: true });
  await tell(initialize);
  expect(heard).toMatchObject([{ id: 1, method: 'initialize' }]);
  expect(said).toMatchObject([{ id: 1, result: { by: 'initialize' } }]);
});

it('who has not is answered initialize, and each request with what is missing; then the server hears the rest', async () => {
  const state = { isGiven: false };
  const { heard, said, tell, initialize } = await talk(state);
  await tell(initialize);
  await tell({ method: 'notifications/initialized' });
  await tell({ id: 2, method: 'ping' });
  await tell({ id: 3, method: 'tools/list' });
  expect(said).toMatchObject([
    { id: 1, result: { protocolVersion: '2025-11-25', serverInfo: { name: 'Notion' } } },
    { id: 2, result: {} },
    { id: 3, error: missing },
  ]);
  // The very error: it tells the front what to ask for.
  expect((said[2] as { error?: object }).error).toBe(missing);
  expect(heard).toEqual([]);
  state.isGiven = true;
  await Promise.all([tell({ id: 4, method: 'tools/call' }), tell({ id: 5, method: 'tools/list' })]);
  await tell({ id: 6, method: 'tools/list' });
  expect(heard.map(({ method }) => method)).toEqual([
    'initialize',
    'notifications/initialized',
    'tools/call',
    'tools/list',
    'tools/list',
  ]);
  expect(heard[0]?.params).toEqual(initialize.params);
  expect(said.slice(3).flatMap(({ id = [] }) => id)).toEqual([4, 5, 6]);
  expect(said.map(({ method }) => method)).toContain('notifications/tools/list_changed');
});

it('a server that cannot be begun is the answer, and is tried again with the next request', async () => {
  const state: Parameters<typeof talk>[0] = { isGiven: false, startError: { code: -32603, message: 'no' } };
  const { said, tell, initialize, server, closed } = await talk(state);
  await tell(initialize);
  state.isGiven = true;
  await tell({ id: 2, method: 'tools/list' });
  expect(said.at(-1)).toMatchObject({ id: 2, error: { message: 'no' } });
  delete state.startError;
  await tell({ id: 3, method: 'tools/list' });
  expect(said.find(({ id }) => id === 3)).toMatchObject({ result: { by: 'tools/list' } });
  await server.close();
  expect(closed()).toBe(1);
});

it('callers of 2026-07-28 reach the server itself when they have given everything', async () => {
  const state = { isGiven: false };
  const { waiting } = await talk(state);
  const asking = { authInfo: caller } as never;
  expect(await waiting.modern?.(asking)).toBeUndefined();
  state.isGiven = true;
  expect(await waiting.modern?.(asking)).toBe('a backend');
});

it('a server that cannot be begun with is an error that says so, the reason is in the log, and the next request tries again', async () => {
  const state: Parameters<typeof talk>[0] = { isGiven: false };
  const { log, said, tell, initialize } = await talk(state);
  await tell(initialize);
  Object.assign(state, { isGiven: true, connectError: new Error('no such program') });
  await tell({ id: 2, method: 'tools/list' });
  expect(said.at(-1)).toMatchObject({ id: 2, error: { data: { reason: 'backend_not_started' } } });
  expect(log.join('')).toContain('no such program');
  delete state.connectError;
  await tell({ id: 3, method: 'tools/list' });
  expect(said.at(-1)).toMatchObject({ id: 3, result: { by: 'tools/list' } });
});

it('its client is told that lists have changed as soon as its person has given everything, once, and nobody else is', async () => {
  const state = { isGiven: false, isUnreadable: false };
  const { heard, said, tell, initialize, give, isHeard, server } = await talk(state);
  await tell(initialize);
  await give();
  state.isUnreadable = true;
  await give();
  state.isUnreadable = false;
  state.isGiven = true;
  await give({ issuer: caller.issuer, subject: 'somebody else' });
  expect(said).toHaveLength(1);
  await give();
  const changes = ['tools', 'prompts', 'resources'].map((list) => `notifications/${list}/list_changed`);
  expect(said.slice(1).map(({ method }) => method)).toEqual(changes);
  expect(heard).toEqual([]);
  expect(isHeard()).toBe(false);
  await tell({ id: 2, method: 'tools/list' });
  expect(said.slice(4)).toMatchObject([{ id: 2, result: { by: 'tools/list' } }]);
  await server.close();
});

it('a server whose client goes is not told of anything any more', async () => {
  const { server, isHeard } = await talk({ isGiven: false });
  expect(isHeard()).toBe(true);
  await server.close();
  expect(isHeard()).toBe(false);
});

it.each([
  ['is told the log level its client has set before', { logging: {} }, ['info']],
  ['that has no log is told no level', {}, []],
])('a server that is begun later %s', async (_what, capabilities, levels) => {
  const state = { isGiven: false, capabilities };
  const { heard, said, tell, initialize } = await talk(state);
  await tell(initialize);
  await tell({ id: 2, method: 'logging/setLevel', params: { level: 'loud' } });
  await tell({ id: 3, method: 'logging/setLevel', params: { level: 'info' } });
  expect(said).toMatchObject([
    { result: { capabilities: { logging: {} } } },
    { id: 2, error: { code: -32602 } },
    { id: 3, result: {} },
  ]);
  state.isGiven = true;
  await tell({ id: 4, method: 'tools/list' });
  const told = heard.filter(({ method }) => method === 'logging/setLevel');
  expect(told.map(({ params }) => params?.level)).toEqual(levels);
  expect(said.flatMap(({ id = [] }) => id)).toEqual([1, 2, 3, 4]);
});
