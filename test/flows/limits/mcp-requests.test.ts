// Flows of src/authorization-server/endpoint-limits/principal-limit.ts and src/composition/mcp-endpoint.ts.
import { describe, expect, it, onTestFinished } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { obtainTokens } from '../../support/oauth.ts';
import { countStatuses, generousLimits } from '../token/subject.ts';

async function start(times?: number): Promise<RunningGatehouse> {
  const limits = { ...generousLimits, ...(times && { mcpRequests: { times, windowSeconds: 600 } }) };
  const gatehouse = await startGatehouse({ limits });
  onTestFinished(() => gatehouse.stop());
  return gatehouse;
}

function call(url: string, token: string): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/list',
      origin: new URL(url).origin,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 7,
      method: 'tools/list',
      params: {
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    }),
  });
}

describe('MCP requests', () => {
  it('beyond the limit of a client and account are 429, say how long to wait, and touch no other client', async () => {
    const gatehouse = await start(5);
    const { tokens, clientId } = await obtainTokens(gatehouse);
    const other = await obtainTokens(gatehouse);
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => call(gatehouse.mcpUrl, tokens.access_token)),
    );
    for (const answer of answers) await answer.clone().text();
    expect(countStatuses(answers)).toEqual({ 200: 5, 429: 25 });
    const refused = answers.find(({ status }) => status === 429) as Response;
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(600);
    expect(refused.headers.get('access-control-expose-headers')).toContain('Retry-After');
    expect(await refused.json()).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: {
        code: -32000,
        message: expect.stringContaining('Wait as long as Retry-After says'),
        data: { retryAfterSeconds: seconds },
      },
    });
    expect((await call(gatehouse.mcpUrl, other.tokens.access_token)).status).toBe(200);
    const lines = gatehouse.log.filter((line) => line.includes('limit.reached'));
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ limit: 'mcpRequests', clientId }]);
  });

  it('count together over all transports', async () => {
    const gatehouse = await start(2);
    const clientId = (await obtainTokens(gatehouse)).clientId;
    const { tokens } = await obtainTokens({ ...gatehouse, mcpUrl: `${gatehouse.url}/rest` }, { clientId });
    const { tokens: forSse } = await obtainTokens(
      { ...gatehouse, mcpUrl: `${gatehouse.url}/sse` },
      { clientId },
    );
    for (let time = 0; time < 2; time++)
      expect((await call(`${gatehouse.url}/rest`, tokens.access_token)).status).not.toBe(429);
    const refused = await call(`${gatehouse.url}/rest`, tokens.access_token);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('connection')).toBe('close');
    const stream = await fetch(`${gatehouse.url}/sse`, {
      headers: { authorization: `Bearer ${forSse.access_token}`, accept: 'text/event-stream' },
    });
    expect(stream.status).toBe(429);
  });

  it('are not counted unless that is asked for', async () => {
    const gatehouse = await start();
    const { tokens } = await obtainTokens(gatehouse);
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => call(gatehouse.mcpUrl, tokens.access_token)),
    );
    expect(countStatuses(answers)).toEqual({ 200: 100 });
  });
});
