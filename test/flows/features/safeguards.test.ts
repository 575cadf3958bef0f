import { describe, expect, it, onTestFinished } from 'vitest';
import { modernRequest, readAnswer } from '../../mcp/support/gate.ts';
import { nodeCount } from '../../support/test-storage.ts';
import { formNamed } from './support/forms.ts';
import { type Front, startFront } from './support/front.ts';
import { createServerV2 } from './support/server-v2.ts';

function send(
  { mcp }: Front,
  name: string,
  input: object,
  headers: Record<string, string> = {},
): Promise<Response> {
  const request = modernRequest('tools/call', { name, arguments: input });
  return fetch(mcp.url, {
    method: 'POST',
    headers: {
      ...request.headers,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      authorization: `Bearer ${mcp.accessToken}`,
      ...headers,
    },
    body: JSON.stringify(request.json),
  });
}

describe('a tool', () => {
  it('is called with valid input, by who may, and so many at once; what it throws is told without its stack (C8-08)', async () => {
    const base = formNamed('a v2 server each');
    const front = await startFront(
      {
        ...base,
        bring: (memory) => ({
          create: () => createServerV2(memory),
          scopes: { mcp: 'Use it.', more: 'Use all of it.' },
          scopeRules: { tools: { fails: ['more'] }, otherwise: ['mcp'] },
        }),
      },
      { mcp: { maxCallsPerPrincipal: 2 } },
    );
    onTestFinished(() => front.stop());

    const invalid = await readAnswer(await send(front, 'described', { a: 'one' }));
    expect(invalid.result).toMatchObject({ isError: true });
    expect((await send(front, 'fails', {})).status).toBe(403);
    expect(JSON.stringify(await readAnswer(await send(front, 'throws', {})))).not.toMatch(
      /\.ts\b|node_modules| at /,
    );

    // Settled from the start: the end of the server may break them off.
    // Two nodes count by themselves, and share them at random.
    const labels = nodeCount === 1 ? ['a', 'b'] : Array.from({ length: 20 }, (_, at) => `${at}`);
    const waiting = Promise.allSettled(labels.map((label) => send(front, 'wait', { label })));
    const recall = () => send(front, 'recall', { label: 'a' });
    await expect.poll(async () => (await recall()).status, { interval: 20, timeout: 5000 }).toBe(429);
    await front.stop();
    await waiting;
  });
});

describe('a request without MCP-Protocol-Version', () => {
  it('is of 2025-03-26 where its body claims nothing else, and refused where it claims 2026-07-28 (B5-07)', async () => {
    const front = await startFront(formNamed('a v2 server each'));
    onTestFinished(() => front.stop());
    const headers = {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      authorization: `Bearer ${front.mcp.accessToken}`,
    };
    const { json } = modernRequest('tools/list');
    const refused = await fetch(front.mcp.url, { method: 'POST', headers, body: JSON.stringify(json) });
    expect([refused.status, (await readAnswer(refused)).error?.code]).toEqual([400, -32020]);

    const initialize = {
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'old', version: '1' } },
    };
    const opened = await fetch(front.mcp.url, { method: 'POST', headers, body: JSON.stringify(initialize) });
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
    await opened.text();
    const batch = [1, 2].map((id) => ({ jsonrpc: '2.0', id, method: 'ping' }));
    const taken = await fetch(front.mcp.url, {
      method: 'POST',
      headers: { ...headers, ...session },
      body: JSON.stringify(batch),
    });
    expect(taken.status).toBe(200);
  });
});
