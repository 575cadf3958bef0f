// Flows through src/gateway/steps/cache.ts and src/gateway/steps/with-steps.ts: a real server of SDK v2 on
// loopback that says how long its answers are good, real logins of two people.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { grace } from '../../support/served.ts';
import { connectSdkV2 } from '../clients/support/sdk-v2.ts';

const scopes = ['mcp'];
const modern = { pin: '2026-07-28' };

/** Methods that arrived at the server. */
const asked: string[] = [];
let count = 0;

const handler = createMcpHandler(
  () => {
    const server = new McpServer(
      { name: 'keeping', version: '1' },
      {
        supportedProtocolVersions: ['2026-07-28'],
        cacheHints: { 'tools/list': { ttlMs: 60_000, cacheScope: 'public' } },
      },
    );
    server.registerTool('read', {}, async () => ({ content: [] }));
    server.registerTool('write', {}, async () => ({ content: [] }));
    for (const cacheScope of ['private', 'public'] as const)
      server.registerResource(
        cacheScope,
        `note://${cacheScope}`,
        { cacheHint: { ttlMs: 60_000, cacheScope } },
        async (uri) => ({ contents: [{ uri: uri.href, text: `answer ${++count}` }] }),
      );
    return server;
  },
  { legacy: 'reject' },
);
const elsewhere = createServer(async (incoming, outgoing) => {
  let body = '';
  for await (const chunk of incoming) body += String(chunk);
  asked.push(String(JSON.parse(body).method));
  const response = await handler.fetch(
    new Request('http://127.0.0.1/mcp', {
      method: 'POST',
      headers: incoming.headers as Record<string, string>,
      body,
    }),
  );
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.end(Buffer.from(await response.arrayBuffer()));
});

let gate: RunningGatehouse;
beforeAll(async () => {
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/mcp`;
  gate = await startGatehouse({
    routes: { keeping: { backend: { url }, policy: { tools: { deny: ['write'] } } } },
  });
  await gate.administration.accounts.add(grace.email, grace.password);
});
afterAll(async () => {
  await gate.stop();
  await handler.close();
  elsewhere.closeAllConnections();
  await new Promise((resolve) => elsewhere.close(resolve));
});

it('what a server says is good for a while is asked for once: public answers for all, private ones for each (T-158, C6-07, C6-08)', async () => {
  const [ada, other] = [
    await connectSdkV2(gate.mcpUrl, modern, { scopes }),
    await connectSdkV2(gate.mcpUrl, modern, { scopes, person: grace }),
  ];
  const again = await connectSdkV2(gate.mcpUrl, modern, { scopes, person: grace });
  const read = async ({ client }: typeof ada, scope: string) => {
    const { contents } = await client.readResource({ uri: `note://${scope}` });
    return (contents[0] as { text: string }).text;
  };
  const [shared, own] = [await read(ada, 'public'), await read(ada, 'private')];
  expect([await read(other, 'public'), await read(again, 'public')]).toEqual([shared, shared]);
  const others = await read(other, 'private');
  expect(others).not.toBe(own);
  // Another login of the same person is another token.
  expect(await read(again, 'private')).not.toBe(others);

  asked.length = 0;
  for (const { client } of [ada, other, again])
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['read']);
  expect(asked.filter((method) => method === 'tools/list').length).toBeLessThanOrEqual(1);
  for (const { client } of [ada, other, again]) await client.close();
});
