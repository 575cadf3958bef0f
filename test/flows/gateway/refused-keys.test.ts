// Keys that people entered and that a server by URL does not accept, through src/gateway/credentials/person-value.ts and
// src/gateway/steps/index.ts: what they are told, from the first request on, whatever they and the server
// speak.
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as TransportV2,
} from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ada, type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { obtainTokens } from '../../support/oauth.ts';
import { enterKey } from './support/enter-key.ts';
import { type ModernElsewhere, serveModern } from './support/modern-elsewhere.ts';

/** What the servers speak: 2026-07-28 alone, or the older revisions, too. */
const servers = { young: 'reject', both: 'stateless' } as const;
type Route = keyof typeof servers | 'joined';

const credentials = { apiKey: { label: 'Tools key', as: { header: 'x-key' } } };
const running: ModernElsewhere[] = [];
let gate: RunningGatehouse;
beforeAll(async () => {
  const routes: Record<string, object> = {};
  for (const [name, legacy] of Object.entries(servers)) {
    const server = await serveModern(legacy);
    running.push(server);
    server.instead(({ headers }) =>
      headers['x-key'] === 'right' ? undefined : new Response(null, { status: 401 }),
    );
    const backend = { url: server.url, transport: 'http' };
    routes[name] = { name: 'Tools', backend, credentials };
    routes.joined = {
      name: 'All',
      backends: { tools: backend },
      credentials: { apiKey: { ...credentials.apiKey, backend: 'tools' } },
    };
  }
  gate = await startGatehouse({ routes } as never);
});
afterAll(async () => {
  await gate.stop();
  await Promise.all(running.map((server) => server.stop()));
});

/** Enters a key on the account page. */
async function enter(route: Route, value: string) {
  await enterKey(gate, { page: `/credentials/${route}`, value, person: ada });
}

async function headersFor(mcpUrl: string): Promise<Record<string, string>> {
  const { tokens } = await obtainTokens({ url: gate.url, mcpUrl }, { scope: 'mcp', scopes: ['mcp'] });
  return { authorization: `Bearer ${tokens.access_token}` };
}

const about = { name: 'test', version: '1' };

/** Ways to begin; each ends with what stands in its way. */
const ways: Readonly<Record<string, (route: Route) => Promise<unknown>>> = {
  async 'a session of 2025-11-25'(route) {
    const url = `${gate.url}/${route}/mcp`;
    const requestInit = { headers: await headersFor(url) };
    return new ClientV1(about).connect(new TransportV1(new URL(url), { requestInit }));
  },
  async 'HTTP+SSE of 2024-11-05'(route) {
    const url = `${gate.url}/${route}/sse`;
    const requestInit = { headers: await headersFor(url) };
    return new ClientV1(about).connect(new SSEClientTransport(new URL(url), { requestInit }));
  },
  async 'a client that speaks any revision'(route) {
    const url = `${gate.url}/${route}/mcp`;
    const requestInit = { headers: await headersFor(url) };
    const client = new ClientV2(about, { versionNegotiation: { mode: 'auto' } });
    return client.connect(new TransportV2(new URL(url), { requestInit }));
  },
  'server/discover of 2026-07-28': (route) => askModern(route, 'server/discover'),
  'a call of 2026-07-28': (route) => askModern(route, 'tools/call', route === 'joined' ? 'tools_who' : 'who'),
};

async function askModern(route: Route, method: string, name?: string): Promise<unknown> {
  const url = `${gate.url}/${route}/mcp`;
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      ...(await headersFor(url)),
      ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...(name && { 'mcp-name': name }) },
    },
    body: JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1, method },
      params: {
        ...(name && { name, arguments: {} }),
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': about,
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    }),
  });
  const text = await response.text();
  const { error } = JSON.parse(text.replace(/^[^{]*/, ''));
  throw error ?? text;
}

describe.each([...Object.keys(servers), 'joined'] as Route[])(
  'a key that the server of a route does not accept: %s',
  (route) => {
    it.each(Object.keys(ways))('is said, with the page where another is entered, to %s', async (way) => {
      await enter(route, 'wrong');
      const refused = await ways[way]?.(route).catch((error: unknown) => error);
      expect(refused).toMatchObject({
        message: expect.stringMatching(
          new RegExp(
            `The MCP server (Tools|All/tools) does not accept your Tools key\\. Enter another one on your account page\\. Open ${gate.url}/account/credentials/${route}/[0-9a-f]{16} in a browser`,
          ),
        ),
        data: { reason: 'credential_refused', url: expect.stringContaining('/account/credentials/') },
      });
    });

    it('is over when another is entered there', async () => {
      await enter(route, 'wrong');
      const refused = (await ways['a session of 2025-11-25']?.(route).catch((error: unknown) => error)) as {
        data: { url: string };
      };
      const page = new URL(refused.data.url).pathname.slice('/account'.length);
      await enterKey(gate, { page, value: 'right', person: ada });
      // What was begun with the old key ends in the same moment: who begins just then is told to begin again.
      const begin = (way: string) => () => ways[way]?.(route).catch((error: Error) => error.message);
      for (const way of ['a session of 2025-11-25', 'a client that speaks any revision'])
        await expect.poll(begin(way), { timeout: 10_000 }).toBeUndefined();
    });
  },
);
