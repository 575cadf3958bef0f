// Flows through src/gateway/backends/remote/remote-backend.ts, src/gateway/backends/remote/remote-server.ts,
// src/gateway/backends/remote/streamable-http.ts,
// src/gateway/backends/remote/posting-link.ts, src/gateway/backends/remote/rest.ts, src/gateway/backends/remote/event-stream-link.ts, src/gateway/backends/remote/streamable-http.ts,
// src/gateway/backends/remote/event-stream.ts, src/gateway/backends/remote/answer-body.ts and
// src/gateway/backends/remote/wire.ts: real servers on loopback, real logins, the real clients of both SDKs.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as TransportV2,
} from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { obtainTokens, tryAccess } from '../../support/oauth.ts';
import { grace } from '../../support/served.ts';
import { nodeCount } from '../../support/test-storage.ts';
import { connectSdkV1 } from '../clients/support/sdk-v1.ts';
import { connectSdkV2 } from '../clients/support/sdk-v2.ts';
import { type Elsewhere, serveEventStream, serveStreamable } from './support/elsewhere.ts';

const scopes = ['mcp'];

function said(result: unknown): Record<string, unknown> {
  const { content } = result as { content: { text: string }[] };
  return JSON.parse(content[0]?.text ?? '');
}

/** Connects as somebody who is logged in already, with what their client can do. */
async function connectAgain(
  mcpUrl: string,
  token: string,
  { headers = {}, prepare }: { headers?: Record<string, string>; prepare?: (client: Client) => void } = {},
): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } });
  prepare?.(client);
  const requestInit = { headers: { authorization: `Bearer ${token}`, ...headers } };
  await client.connect(new StreamableHTTPClientTransport(new URL(mcpUrl), { requestInit }));
  return client;
}

const kinds = [
  { title: 'Streamable HTTP, answered with streams', serve: () => serveStreamable() },
  { title: 'Streamable HTTP, answered with JSON', serve: () => serveStreamable({ json: true }) },
  { title: 'HTTP+SSE', serve: () => serveEventStream() },
];

describe.each(kinds)('a server reached over $title', ({ title, serve }) => {
  const answersWithJson = title.endsWith('JSON');
  let elsewhere: Elsewhere;
  let gate: RunningGatehouse;
  let token: string;
  beforeAll(async () => {
    elsewhere = await serve();
    gate = await startGatehouse({ backend: { url: elsewhere.url, name: 'Elsewhere' } });
    const { client, provider } = await connectSdkV1(gate.mcpUrl, { scopes });
    token = provider.tokens()?.access_token ?? '';
    await client.close();
  });
  afterAll(async () => {
    await gate.stop();
    await elsewhere.stop();
  });

  it('is served to the SDK’s clients of both versions and all eras (B5-16, B7-16)', async () => {
    const v1 = await connectSdkV1(gate.mcpUrl, { scopes });
    expect(said(await v1.client.callTool({ name: 'echo', arguments: { text: 'one' } }))).toEqual({
      said: 'one',
    });
    for (const mode of ['legacy', { pin: '2026-07-28' }, 'auto'] as const) {
      const { client } = await connectSdkV2(gate.mcpUrl, mode, { scopes });
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain('seen');
      expect(said(await client.callTool({ name: 'echo', arguments: { text: 'two' } }))).toEqual({
        said: 'two',
      });
      await client.close();
    }
    await v1.client.close();
  });

  it('gets nothing of the caller’s request but its message: no token, no header, no credentials of theirs (T-159, B7-17)', async () => {
    const headers = {
      cookie: 'session=stolen',
      'x-user': 'root',
      'x-forwarded-user': 'root',
      'mcp-init-host': 'evil.example',
      'router-key': 'k',
      'x-mcp-authorized': 'yes',
      'user-agent': 'an-agent',
    };
    const client = await connectAgain(gate.mcpUrl, token, { headers });
    elsewhere.received.length = 0;
    const result = await client.callTool({
      name: 'seen',
      arguments: {},
      _meta: { auth: { key: 'of the caller' }, 'example.com/mine': 1 },
    });
    expect(said(result).meta).toEqual({ 'example.com/mine': 1 });
    const names = elsewhere.received.flatMap(({ headers: sent }) => Object.keys(sent));
    const ours = [
      'host',
      'content-type',
      'accept',
      'accept-encoding',
      'mcp-session-id',
      'mcp-protocol-version',
      'content-length',
    ];
    expect(
      [...new Set(names)].filter((name) => ![...ours, 'connection', 'last-event-id'].includes(name)),
    ).toEqual([]);
    expect(JSON.stringify(elsewhere.received)).not.toMatch(/stolen|root|evil|an-agent|Bearer/);
    await client.close();
  });

  it('tells progress and log messages, and says when its lists change', async () => {
    const heard: unknown[] = [];
    const client = await connectAgain(gate.mcpUrl, token, {
      prepare(made) {
        made.setNotificationHandler(
          LoggingMessageNotificationSchema,
          ({ params }) => void heard.push(params.data),
        );
        made.setNotificationHandler(ToolListChangedNotificationSchema, () => void heard.push('changed'));
      },
    });
    await expect.poll(() => elsewhere.received.some(({ method }) => method === 'GET')).toBe(true);
    const progress: number[] = [];
    await client.callTool({ name: 'steps', arguments: {} }, undefined, {
      onprogress: ({ progress: now }) => progress.push(now),
    });
    // The SDK's servers tell progress nowhere when they answer with JSON.
    expect(progress).toEqual(answersWithJson ? [] : [1, 2, 3]);
    await client.callTool({ name: 'log', arguments: {} });
    await client.callTool({ name: 'grow', arguments: {} });
    await expect.poll(() => heard).toEqual(expect.arrayContaining(['written by elsewhere', 'changed']));
    await client.close();
  });

  it('asks its client, and has the answer: as a request, and of 2026-07-28 as input_required (C4-06)', async () => {
    // What belongs to a request cannot be told with an answer in JSON; it comes over the stream of the session.
    const tool = answersWithJson ? 'ask' : 'ask-here';
    const answer = { action: 'accept' as const, content: { name: 'Ada' } };
    elsewhere.received.length = 0;
    const older = await connectAgain(gate.mcpUrl, token, {
      prepare: (made) => made.setRequestHandler(ElicitRequestSchema, () => answer),
    });
    await expect.poll(() => elsewhere.received.some(({ method }) => method === 'GET')).toBe(true);
    expect(said(await older.callTool({ name: tool, arguments: {} }))).toEqual(answer);

    const newer = new ClientV2(
      { name: 'test', version: '1' },
      { capabilities: { elicitation: {} }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    newer.setRequestHandler('elicitation/create', () => answer);
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    await newer.connect(new TransportV2(new URL(gate.mcpUrl), { requestInit }));
    await newer.callTool({ name: 'echo', arguments: { text: 'begins the session there' } });
    expect(said(await newer.callTool({ name: tool, arguments: {} }))).toEqual(answer);
    await Promise.all([older.close(), newer.close()]);
  });

  it('has a session for each session here, ended with it (B3-11)', async () => {
    const before = elsewhere.sessions.size;
    const clients = await Promise.all([1, 2, 3].map(() => connectAgain(gate.mcpUrl, token)));
    expect(elsewhere.sessions.size).toBe(before + 3);
    for (const client of clients) {
      await (client.transport as StreamableHTTPClientTransport).terminateSession();
      await client.close();
    }
    await expect.poll(() => elsewhere.sessions.size).toBe(before);
  });

  it('may forget its sessions: a new one is begun, and nobody but who subscribed notices (B3-11)', async () => {
    const heard: unknown[] = [];
    const client = await connectAgain(gate.mcpUrl, token, {
      prepare: (made) =>
        made.setNotificationHandler(ToolListChangedNotificationSchema, () => void heard.push('changed')),
    });
    await client.setLoggingLevel('error');
    for (const round of ['one', 'two']) {
      elsewhere.forget();
      await expect.poll(() => elsewhere.sessions.size).toBe(0);
      const calls = [1, 2, 3].map((n) =>
        client.callTool({ name: 'echo', arguments: { text: `${round}${n}` } }),
      );
      expect((await Promise.all(calls)).map(said)).toEqual([1, 2, 3].map((n) => ({ said: `${round}${n}` })));
      expect(elsewhere.sessions.size).toBe(1);
    }
    // Of changes that follow each other within moments, a client of two nodes may hear one.
    await expect.poll(() => heard.length).toBeGreaterThanOrEqual(2 / nodeCount);
    expect(heard.length).toBeLessThanOrEqual(2);
    await client.close();
  });

  it('never gives one person what it said to another, though their ids are the same (T-127, T-158)', async () => {
    await gate.administration.accounts.add(grace.email, grace.password);
    const other = await connectSdkV1(gate.mcpUrl, { scopes, person: grace });
    const clients = await Promise.all([
      connectAgain(gate.mcpUrl, token),
      connectAgain(gate.mcpUrl, other.provider.tokens()?.access_token ?? ''),
    ]);
    const calls = Array.from({ length: 200 }, async (_, n) => {
      const text = `${n % 2}-${n}`;
      const result = await clients[n % 2]?.callTool({ name: 'echo', arguments: { text, delayMs: n % 5 } });
      return said(result).said === text;
    });
    expect(new Set(await Promise.all(calls))).toEqual(new Set([true]));
    await Promise.all([...clients, other.client].map((client) => client.close()));
  });
});

describe('a server whose transport is not known', () => {
  it('is found out once, and asked so from then on (B6-01)', async () => {
    const elsewhere = await serveEventStream();
    const gate = await startGatehouse({ backend: { url: elsewhere.url } });
    const { client, provider } = await connectSdkV1(gate.mcpUrl, { scopes });
    const asked = () => elsewhere.received.map(({ method, url }) => `${method} ${url.split('?')[0]}`);
    expect([...new Set(asked())]).toEqual(['POST /sse', 'GET /sse', 'POST /messages']);
    elsewhere.received.length = 0;
    const again = await connectAgain(gate.mcpUrl, provider.tokens()?.access_token ?? '');
    // Each node finds it out.
    expect(asked().filter((line) => line === 'POST /sse').length).toBeLessThan(nodeCount);
    await Promise.all([client.close(), again.close()]);
    await gate.stop();
    await elsewhere.stop();
  });
});

describe('a server reached over Rest', () => {
  it('is served to clients of all transports; what it cannot do it does not promise (B7-14, B7-16)', async () => {
    const elsewhere = await startGatehouse();
    const restUrl = elsewhere.mcpUrl.replace(/mcp$/, 'rest');
    const { tokens } = await obtainTokens({ url: elsewhere.url, mcpUrl: restUrl });
    const gate = await startGatehouse({
      backend: {
        url: restUrl,
        transport: 'rest',
        headers: { authorization: `Bearer ${tokens.access_token}` },
      },
    });
    const { client } = await connectSdkV1(gate.mcpUrl, { scopes });
    expect(client.getServerCapabilities()).toEqual({ prompts: {}, resources: {}, tools: {} });
    const { client: newer } = await connectSdkV2(gate.mcpUrl, { pin: '2026-07-28' }, { scopes });
    for (const one of [client, newer]) {
      const { tools } = await one.listTools();
      expect(tools.map(({ name }) => name)).toContain('add_note');
      const { content } = (await one.callTool({ name: 'whoami', arguments: {} })) as { content: unknown[] };
      expect(content).toHaveLength(1);
    }
    await Promise.all([client, newer].map((one) => one.close()));
    await gate.stop();
    await elsewhere.stop();
  });
});

describe('servers by URL as routes', () => {
  it('are set in the config file with their headers, each a resource of its own; a restart of the gate loses no session (T-162)', async () => {
    const [one, two] = [await serveStreamable(), await serveEventStream()];
    vi.stubEnv('KEY_OF_ONE', 'key-from-the-environment');
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-routes-'));
    const routes = {
      one: { backend: { url: one.url, headers: { 'x-api-key': { env: 'KEY_OF_ONE' } } } },
      two: { backend: { url: two.url, transport: 'sse' as const } },
    };
    const first = await startGatehouse({ routes, folder });
    const at = (path: string) => ({ url: first.url, mcpUrl: `${first.url}/${path}/mcp` });
    const tokens = await Promise.all(
      ['one', 'two'].map((path) => obtainTokens(at(path), { scope: 'mcp', scopes: ['mcp'] })),
    );
    const clients = await Promise.all(
      ['one', 'two'].map((path, n) => connectAgain(at(path).mcpUrl, tokens[n]?.tokens.access_token ?? '')),
    );
    const seen = said(await clients[0]?.callTool({ name: 'seen', arguments: {} }));
    expect(seen.headers).toMatchObject({ 'x-api-key': 'key-from-the-environment' });
    expect(JSON.stringify(said(await clients[1]?.callTool({ name: 'seen', arguments: {} })))).not.toContain(
      'key-from',
    );
    expect(await tryAccess(at('two').mcpUrl, tokens[0]?.tokens.access_token ?? '')).toBe(401);
    expect(first.log.join('')).not.toContain('key-from-the-environment');

    const port = Number(new URL(first.url).port);
    await first.stop();
    const second = await startGatehouse({ routes, folder, port });
    for (const client of clients)
      expect(said(await client.callTool({ name: 'echo', arguments: { text: 'after' } }))).toEqual({
        said: 'after',
      });
    await Promise.all(clients.map((client) => client.close()));
    await second.stop();
    await Promise.all([one.stop(), two.stop(), rm(folder, { recursive: true, force: true })]);
    vi.unstubAllEnvs();
  });

  it('are refused at the start where a header cannot be read, by name and without its value (T-163)', async () => {
    const routes = {
      one: { backend: { url: 'http://127.0.0.1:9/mcp', headers: { 'x-api-key': { env: 'NOT_SET' } } } },
    };
    await expect(startGatehouse({ routes })).rejects.toThrow(
      /routes\.one\.backend: The header x-api-key: .*NOT_SET/,
    );
  });
});
