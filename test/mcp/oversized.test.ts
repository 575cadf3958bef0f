import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../support/gatehouse.ts';

describe('a body over the limit', () => {
  let gatehouse: RunningGatehouse;
  beforeAll(async () => {
    gatehouse = await startGatehouse({ mcp: { maxBodyBytes: 2048 } });
  });
  afterAll(() => gatehouse.stop());

  it('is refused with 413 before anybody is identified, with a JSON-RPC error (T-134)', async () => {
    const response = await fetch(gatehouse.mcpUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ padding: 'x'.repeat(4096) }),
    });
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: { code: expect.any(Number) } });
  });

  it('within the limit comes to the bearer check', async () => {
    const response = await fetch(gatehouse.mcpUrl, { method: 'POST', body: '{}' });
    expect(response.status).toBe(401);
  });
});
