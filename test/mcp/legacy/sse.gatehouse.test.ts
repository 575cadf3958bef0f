import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { obtainTokens, post, refresh } from '../../support/oauth.ts';
import { patience } from '../../support/patience.ts';
import { openStream } from '../support/sse-stream.ts';

async function start(publicPath = ''): Promise<RunningGatehouse> {
  const gatehouse = await startGatehouse({ publicPath });
  onTestFinished(() => gatehouse.stop());
  return gatehouse;
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

/** Obtains tokens for the stream: it is a protected resource of its own (RFC 8707). */
const obtainSseTokens = (gatehouse: RunningGatehouse) =>
  obtainTokens({ ...gatehouse, mcpUrl: `${gatehouse.url}/sse` });

describe('HTTP+SSE of a gatehouse', () => {
  it('stands next to the MCP endpoint, below a path too, with tokens of its own (B2-07)', async () => {
    const gatehouse = await start('/behind/proxy');
    const sse = new URL(`${gatehouse.url}/sse`);
    const mcp = new URL(gatehouse.mcpUrl);
    const { tokens: forSse } = await obtainSseTokens(gatehouse);
    const { tokens: forMcp } = await obtainTokens(gatehouse);
    const transports = [
      new SSEClientTransport(sse, { requestInit: { headers: bearer(forSse.access_token) } }),
      new StreamableHTTPClientTransport(mcp, { requestInit: { headers: bearer(forMcp.access_token) } }),
    ];
    for (const [at, transport] of transports.entries()) {
      const client = new Client({ name: 'test', version: '1.0.0' });
      await client.connect(transport);
      await client.callTool({ name: 'add_note', arguments: { text: `note ${at}` } });
      const found = await client.callTool({ name: 'search_notes', arguments: { query: 'note 0' } });
      expect(JSON.stringify(found)).toContain('note 0');
      await client.close();
    }
  });

  it.each([
    ['GET', '/sse'],
    ['POST', '/messages?sessionId=x'],
  ])(
    'asks everybody for a token, and names the metadata of the stream: %s %s (B2-05)',
    async (method, path) => {
      const { url } = await start();
      const refused = await fetch(`${url}${path}`, { method });
      expect(refused.status).toBe(401);
      expect(refused.headers.get('www-authenticate')).toContain(
        `resource_metadata="${url}/.well-known/oauth-protected-resource/sse"`,
      );
    },
  );

  it.each([
    ['GET', '/sse'],
    ['POST', '/messages?sessionId=x'],
  ])('is closed to pages of unknown origins: %s %s (B2-05, T-131)', async (method, path) => {
    const gatehouse = await start();
    const { tokens } = await obtainSseTokens(gatehouse);
    for (const Origin of ['http://evil.example', 'null', 'http://localhost.evil.example']) {
      const headers = { ...bearer(tokens.access_token), Origin };
      expect((await fetch(`${gatehouse.url}${path}`, { method, headers })).status).toBe(403);
    }
  });

  it('serves GET on the one path and POST on the other', async () => {
    const gatehouse = await start();
    const { tokens } = await obtainSseTokens(gatehouse);
    const headers = bearer(tokens.access_token);
    for (const [method, path, allowed] of [
      ['POST', '/sse', 'GET'],
      ['DELETE', '/sse', 'GET'],
      ['GET', '/messages', 'POST'],
    ] as const) {
      const answer = await fetch(`${gatehouse.url}${path}`, { method, headers });
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, expect.stringContaining(allowed)]);
    }
  });

  it.each(['each', 'shared'] as const)(
    'tells tools the metadata of the path they are reached by, as /rest and /mcp do; no log line names a stream (%s)',
    async (sharing) => {
      const create = (): McpServer => {
        const server = new McpServer({ name: 'told', version: '1' });
        server.registerTool('told', {}, ({ http }) => ({
          content: [{ type: 'text', text: String(http?.authInfo?.resourceMetadataUrl) }],
        }));
        return server;
      };
      const gatehouse = await startGatehouse({ server: { create, sharing } });
      onTestFinished(() => gatehouse.stop());
      const tokenFor = async (path: string): Promise<string> => {
        const at = { ...gatehouse, mcpUrl: `${gatehouse.url}${path}` };
        const { tokens } = await obtainTokens(at, { scopes: ['mcp'], scope: 'mcp' });
        return tokens.access_token;
      };
      const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'told', arguments: {} } };
      const metadata = `${gatehouse.url}/.well-known/oauth-protected-resource`;

      const stream = await openStream({ url: new URL(`${gatehouse.url}/sse`) }, await tokenFor('/sse'));
      await stream.initialize();
      await stream.post(call);
      expect(JSON.stringify(await stream.message())).toContain(`"${metadata}/sse"`);
      const headers = { ...bearer(await tokenFor('/rest')), 'content-type': 'application/json' };
      const rest = await fetch(`${gatehouse.url}/rest`, {
        method: 'POST',
        headers,
        body: JSON.stringify(call),
      });
      expect(await rest.text()).toContain(`"${metadata}/rest"`);
      const client = new Client({ name: 'test', version: '1.0.0' });
      const requestInit = { headers: bearer(await tokenFor('/mcp')) };
      await client.connect(new StreamableHTTPClientTransport(new URL(gatehouse.mcpUrl), { requestInit }));
      expect(JSON.stringify(await client.callTool({ name: 'told' }))).toContain(`"${metadata}/mcp"`);
      await client.close();

      const id = stream.postUrl.searchParams.get('sessionId') ?? '';
      expect(id).toHaveLength(43);
      expect((await stream.post('{')).status).toBe(400);
      stream.leave();
      await expect.poll(() => gatehouse.log.filter((line) => line.includes('"/sse"'))).toHaveLength(1);
      expect(gatehouse.log.filter((line) => line.includes('"/messages"')).length).toBeGreaterThan(2);
      expect(gatehouse.log.join('')).not.toContain(id);
    },
  );

  it('keeps the conversation of a client that refreshes an expired token at a 401 of its POST (A12-04, B2-03)', async () => {
    const gatehouse = await startGatehouse({ tokens: { accessTokenSeconds: 2 } });
    onTestFinished(() => gatehouse.stop());
    const { tokens, clientId } = await obtainSseTokens(gatehouse);
    const stream = await openStream({ url: new URL(`${gatehouse.url}/sse`) }, tokens.access_token);
    await stream.initialize();
    const search = (id: number) => ({
      ...{ jsonrpc: '2.0', id, method: 'tools/call' },
      params: { name: 'search_notes', arguments: { query: 'x' } },
    });
    await expect
      .poll(async () => (await stream.post({ jsonrpc: '2.0', method: 'notifications/x' })).status, {
        timeout: 10_000,
      })
      .toBe(401);
    const renewed = (await (
      await refresh(gatehouse.url, clientId, tokens.refresh_token)
    ).json()) as typeof tokens;
    expect((await stream.post(search(1), renewed.access_token)).status).toBe(202);
    expect(await stream.message()).toMatchObject({ id: 1, result: {} });
  });

  it('ends the stream within a second when its token is revoked (A12-04, T-103)', async () => {
    const gatehouse = await start();
    const { tokens, clientId } = await obtainSseTokens(gatehouse);
    const leaving = new AbortController();
    onTestFinished(() => leaving.abort());
    const headers = bearer(tokens.access_token);
    const stream = await fetch(`${gatehouse.url}/sse`, { headers, signal: leaving.signal });
    expect(stream.status).toBe(200);
    const ended = stream.text();
    await post(`${gatehouse.url}/revoke`, { token: tokens.access_token, client_id: clientId });
    const revokedAt = performance.now();
    expect(await ended).toContain('event: endpoint');
    expect(performance.now() - revokedAt).toBeLessThan(patience(1000));
  });
});
