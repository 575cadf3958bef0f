import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it } from 'vitest';
import { readAnswer, startGate } from './support/gate.ts';

describe('the MCP endpoint', () => {
  it('serves the SDK client of version 2 in a session (B3-01, B3-04)', async () => {
    const gate = await startGate();
    const client = await gate.connect(gate.issue('ann'));
    const result = await client.callTool({ name: 'whoami', arguments: {} });
    expect(result.structuredContent).toMatchObject({ account: 'ann', client: 'client-1' });
  });

  it('serves the SDK client of version 2 without a session, the way of 2026-07-28 (B5-01, B5-16)', async () => {
    const gate = await startGate();
    const client = await gate.connect(gate.issue('ann'), 'modern');
    const result = await client.callTool({ name: 'whoami', arguments: {} });
    expect(result.structuredContent).toMatchObject({ account: 'ann', client: 'client-1' });
    expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
  });

  it('serves the SDK client of version 1 (B3-01, B3-04)', async () => {
    const gate = await startGate();
    const client = new ClientV1({ name: 'test', version: '1.0.0' });
    const requestInit = { headers: { authorization: `Bearer ${gate.issue('ann')}` } };
    await client.connect(new TransportV1(new URL(gate.url), { requestInit }));
    const result = await client.callTool({ name: 'whoami', arguments: {} });
    expect(result.structuredContent).toMatchObject({ account: 'ann' });
    await client.close();
  });

  it('answers a call of 2026-07-28 as JSON where the tool sends nothing else', async () => {
    const gate = await startGate();
    const response = await gate.callModern(gate.issue('ann'), 'tools/call', {
      name: 'whoami',
      arguments: {},
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(response.headers.get('mcp-session-id')).toBeNull();
    expect((await readAnswer(response)).result).toMatchObject({ structuredContent: { account: 'ann' } });
  });
});
