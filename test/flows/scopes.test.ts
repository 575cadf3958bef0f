import {
  type Client,
  type StreamableHTTPClientTransport,
  UnauthorizedError,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { McpServer, requireScopes, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { callerOf, declareScopes, type OwnServer } from '../../src/index.ts';
import { parseChallenges } from '../../src/oauth/challenge.ts';
import { type RunningGatehouse, startGatehouse } from '../support/gatehouse.ts';
import { nodeCount } from '../support/test-storage.ts';
import { connectSdkV2 } from './clients/support/sdk-v2.ts';

const info = { name: 'counter', version: '1.0.0' };
const scopes = { 'count:see': 'See the count.', 'count:up': 'Count up.' };
const answer = (text: string) => ({ content: [{ type: 'text' as const, text }] });

/** A server of SDK v2: `see` needs nothing it says itself, `up` says beside the tool what it needs. */
function createV2(supportedProtocolVersions?: string[]): McpServer {
  const server = new McpServer(info, supportedProtocolVersions ? { supportedProtocolVersions } : {});
  server.registerTool('see', { inputSchema: z.object({}) }, (_input, context) =>
    answer(callerOf(context).scopes.join(' ')),
  );
  server.registerTool(
    'up',
    { inputSchema: z.object({}), scopeChallenge: requireScopes('count:see', 'count:up') },
    () => answer('up'),
  );
  return server;
}

/** The same with SDK v1, which knows no scopes. */
function createV1(): McpServerV1 {
  const server = new McpServerV1(info);
  server.registerTool('see', {}, (context) => answer(callerOf(context).scopes.join(' ')));
  server.registerTool('up', {}, () => answer('up'));
  return declareScopes(server, { tools: { up: ['count:see', 'count:up'] } });
}

const listed = ['2026-07-28', ...SUPPORTED_PROTOCOL_VERSIONS];
const rules = { tools: { see: ['count:see'] } };

const servers: { kind: string; server: () => OwnServer; modern: boolean }[] = [
  {
    kind: 'a server each, SDK v2',
    server: () => ({ create: () => createV2(), scopes, scopeRules: rules }),
    modern: true,
  },
  {
    kind: 'one server for all, SDK v2',
    server: () => ({ create: () => createV2(listed), sharing: 'shared', scopes, scopeRules: rules }),
    modern: true,
  },
  {
    kind: 'a server brought ready-made, SDK v2',
    server: () => ({ mcp: createV2(listed), scopes, scopeRules: rules }),
    modern: false,
  },
  {
    kind: 'a server each, SDK v1',
    server: () => ({ create: createV1, scopes, scopeRules: rules }),
    modern: false,
  },
  {
    kind: 'a server brought ready-made, SDK v1',
    server: () => ({ mcp: createV1(), scopes, scopeRules: rules }),
    modern: false,
  },
  {
    kind: 'scopes in the rules alone',
    server: () => ({
      create: () => createV1(),
      scopes,
      scopeRules: { tools: { ...rules.tools, up: ['count:see', 'count:up'] } },
    }),
    modern: false,
  },
];

const sessionOf = (client: Client) => (client.transport as StreamableHTTPClientTransport).sessionId;

describe.each(
  servers.flatMap(({ kind, server, modern }) => [
    { kind, server, era: 'in a session', mode: 'legacy' as VersionNegotiationMode },
    ...(modern
      ? [{ kind, server, era: 'in 2026-07-28', mode: { pin: '2026-07-28' } as VersionNegotiationMode }]
      : []),
  ]),
)('a tool that says which scopes it needs: $kind, $era', ({ server, mode, era }) => {
  let gatehouse: RunningGatehouse;
  beforeAll(async () => {
    gatehouse = await startGatehouse({ server: server() });
  });
  afterAll(() => gatehouse.stop());

  it('is called by a client that asks its person for them and goes on where it was (A8-04, A8-07)', async () => {
    const { client, provider, authorizeAgain } = await connectSdkV2(gatehouse.mcpUrl, mode, {
      scopes: ['count:see'],
    });
    expect(await client.callTool({ name: 'see', arguments: {} })).toMatchObject(answer('count:see'));
    const session = sessionOf(client);
    expect(session === undefined).toBe(era !== 'in a session');

    await expect(client.callTool({ name: 'up', arguments: {} })).rejects.toThrow(UnauthorizedError);
    const asked = new URL(provider.authorizationUrl()).searchParams.get('scope')?.split(' ');
    expect(asked).toEqual(expect.arrayContaining(['count:see', 'count:up']));
    await authorizeAgain({ scopes: ['count:see', 'count:up'] });

    expect(await client.callTool({ name: 'up', arguments: {} })).toMatchObject(answer('up'));
    expect(await client.callTool({ name: 'see', arguments: {} })).toMatchObject(answer('count:see count:up'));
    expect(sessionOf(client)).toBe(session);
    await client.close();
  });

  it('challenges with all it needs, nothing of the call in it, and passes none of it on (A8-04, T-102)', async () => {
    const { client, provider } = await connectSdkV2(gatehouse.mcpUrl, mode, { scopes: ['count:see'] });
    const session = sessionOf(client);
    const response = await fetch(gatehouse.mcpUrl, {
      method: 'POST',
      headers: {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        authorization: `Bearer ${provider.tokens()?.access_token}`,
        ...(session
          ? { 'mcp-session-id': session }
          : { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'up' }),
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 'mine',
        method: 'tools/call',
        params: {
          name: 'up',
          arguments: {},
          ...(session
            ? {}
            : {
                _meta: {
                  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
                  'io.modelcontextprotocol/clientCapabilities': {},
                  'io.modelcontextprotocol/clientInfo': info,
                },
              }),
        },
      }),
    });
    expect(response.status).toBe(403);
    expect(parseChallenges(response.headers.get('www-authenticate') ?? '')).toEqual([
      {
        scheme: 'bearer',
        parameters: {
          error: 'insufficient_scope',
          error_description: expect.any(String),
          scope: 'count:see count:up',
          resource_metadata: `${gatehouse.url}/.well-known/oauth-protected-resource/mcp`,
        },
      },
    ]);
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', id: 'mine', error: { code: -32000 } });
    await client.close();
  });
});

describe.each<VersionNegotiationMode>(['legacy', { pin: '2026-07-28' }])(
  'scope rules that show and include, with a client of era %j',
  (mode) => {
    let gatehouse: RunningGatehouse;
    beforeAll(async () => {
      gatehouse = await startGatehouse({
        server: {
          create: () => createV2(listed),
          sharing: 'shared',
          scopes: { ...scopes, 'count:all': 'Everything.' },
          scopeRules: { ...rules, implies: { 'count:all': ['count:see', 'count:up'] }, lists: 'granted' },
        },
      });
    });
    afterAll(() => gatehouse.stop());

    const toolsOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);

    it('list to each caller what their scopes suffice for', async () => {
      const some = await connectSdkV2(gatehouse.mcpUrl, mode, { scopes: ['count:see'] });
      const none = await connectSdkV2(gatehouse.mcpUrl, mode, { scopes: [] });
      expect([await toolsOf(some.client), await toolsOf(none.client)]).toEqual([['see'], []]);
      await Promise.all([some.client.close(), none.client.close()]);
    });

    it('count a scope for all it includes, which the tool sees (A8-05)', async () => {
      const { client } = await connectSdkV2(gatehouse.mcpUrl, mode, { scopes: ['count:all'] });
      expect(await toolsOf(client)).toEqual(['see', 'up']);
      expect(await client.callTool({ name: 'up', arguments: {} })).toMatchObject(answer('up'));
      expect(await client.callTool({ name: 'see', arguments: {} })).toMatchObject(
        answer('count:all count:see count:up'),
      );
      await client.close();
    });
  },
);

describe('a tool that is named beside itself', () => {
  it.each<VersionNegotiationMode>(['legacy', { pin: '2026-07-28' }])(
    'needs its own scopes and not those of what is not named, with a client of era %j',
    async (mode) => {
      const create = () => declareScopes(createV2(), { tools: { see: ['count:up'] } });
      const server = { create, scopes, scopeRules: { otherwise: ['count:see'] } };
      const gatehouse = await startGatehouse({ server });
      try {
        const { client } = await connectSdkV2(gatehouse.mcpUrl, mode, { scopes: ['count:up'] });
        expect(await client.callTool({ name: 'see', arguments: {} })).toMatchObject(answer('count:up'));
        await expect(client.callTool({ name: 'up', arguments: {} })).rejects.toThrow(UnauthorizedError);
        await client.close();
      } finally {
        await gatehouse.stop();
      }
    },
  );
});

describe.each(['2024-11-05', '2025-03-26', '2025-06-18'])('a session of %s', (protocolVersion) => {
  it('meets the same challenge, in a batch too where there are batches (A8-04, B3-13)', async () => {
    const gatehouse = await startGatehouse({
      server: { create: createV1, sharing: 'shared', scopes, scopeRules: rules },
    });
    try {
      const { client, provider } = await connectSdkV2(gatehouse.mcpUrl, 'legacy', { scopes: ['count:see'] });
      const post = (json: unknown, session?: string) =>
        fetch(gatehouse.mcpUrl, {
          method: 'POST',
          headers: {
            accept: 'application/json, text/event-stream',
            'content-type': 'application/json',
            authorization: `Bearer ${provider.tokens()?.access_token}`,
            ...(session ? { 'mcp-session-id': session } : {}),
          },
          body: JSON.stringify(json),
        });
      const params = { protocolVersion, capabilities: {}, clientInfo: info };
      const opened = await post({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
      expect(await opened.json()).toMatchObject({ result: { protocolVersion } });
      const call = (name: string, id: number) => ({
        jsonrpc: '2.0',
        id,
        method: 'tools/call',
        params: { name, arguments: {} },
      });
      const session = opened.headers.get('mcp-session-id') ?? '';
      const bodies: unknown[] = [call('up', 1)];
      if (protocolVersion === '2025-03-26') bodies.push([call('see', 2), call('up', 3)]);
      for (const body of bodies) {
        const response = await post(body, session);
        expect(response.status).toBe(403);
        const [challenge] = parseChallenges(response.headers.get('www-authenticate') ?? '');
        expect(challenge?.parameters).toMatchObject({
          error: 'insufficient_scope',
          scope: 'count:see count:up',
        });
        await response.text();
      }
      await client.close();
    } finally {
      await gatehouse.stop();
    }
  });
});

describe('a server without a word about scopes', () => {
  it('has one scope, which everything it does needs', async () => {
    const gatehouse = await startGatehouse({ server: createV2() });
    try {
      const { client } = await connectSdkV2(gatehouse.mcpUrl, 'legacy', { scopes: ['mcp'] });
      expect(await client.callTool({ name: 'see', arguments: {} })).toMatchObject(answer('mcp'));
      const without = await connectSdkV2(gatehouse.mcpUrl, 'legacy', { scopes: [] });
      await expect(without.client.callTool({ name: 'see', arguments: {} })).rejects.toThrow(
        UnauthorizedError,
      );
      expect(new URL(without.provider.authorizationUrl()).searchParams.get('scope')).toContain('mcp');
      await Promise.all([client.close(), without.client.close()]);
    } finally {
      await gatehouse.stop();
    }
  });
});

it('a scope that code declares and nobody can be granted is warned of when the first server is made', async () => {
  const create = () => declareScopes(createV2(), { tools: { up: ['count:up', 'count:down'] } });
  const gatehouse = await startGatehouse({ server: { create, scopes, scopeRules: rules } });
  onTestFinished(() => gatehouse.stop());
  const { client } = await connectSdkV2(gatehouse.mcpUrl, 'legacy', { scopes: ['count:see'] });
  await client.close();
  const warned = gatehouse.log.map((line) => JSON.parse(line)).filter(({ scope }) => scope !== undefined);
  expect(warned.length).toBeGreaterThan(0);
  expect(warned.length).toBeLessThanOrEqual(nodeCount);
  for (const warning of warned) expect(warning).toMatchObject({ level: 'warn', scope: 'count:down' });
});
