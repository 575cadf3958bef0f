import { describe, expect, it } from 'vitest';
import { createMemoryStore, withAuthorization, withMcpConnection } from '../../../src/client/index.ts';
import { testContext } from '../support/context.ts';
import { testCredential, testRegistration } from '../support/credentials.ts';
import { startAuthorizationServer, startMcpServer } from '../support/protected-server.ts';

const clientInfo = { name: 'test', version: '1' };

describe('an MCP connection with a login', () => {
  it('lists and calls tools, the token on every request, renewed on the way (A8-01, A9-05)', async () => {
    const as = await startAuthorizationServer();
    const tool = { name: 'echo', inputSchema: { type: 'object' } };
    const mcp = await startMcpServer(as, {
      tools: [tool],
      call: ({ arguments: args }) => ({ content: [{ type: 'text', text: JSON.stringify(args) }] }),
    });
    as.refreshTokens.add('rt');
    const store = createMemoryStore();
    await store.saveRegistration(testRegistration({ issuer: as.origin }));
    await store.saveCredential(mcp.url, testCredential({ issuer: as.origin, resource: mcp.url }));
    const fetch = withAuthorization(testContext(), mcp.url, store);
    const seen = await withMcpConnection({ url: mcp.url, fetch, clientInfo }, async (client) => ({
      tools: (await client.listTools()).tools.map(({ name }) => name),
      result: await client.callTool({ name: 'echo', arguments: { a: 1 } }),
    }));
    expect(seen.tools).toEqual(['echo']);
    expect(seen.result.content).toEqual([{ type: 'text', text: '{"a":1}' }]);
    const tokens = mcp.requests.map(({ headers }) => headers.authorization);
    expect(tokens[0]).toBe('Bearer at');
    expect(new Set(tokens.slice(1)).size).toBe(1);
    expect(tokens[1]).toMatch(/^Bearer at-/);
  });
});
