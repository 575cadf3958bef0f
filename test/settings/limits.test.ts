import { describe, expect, it } from 'vitest';
import { limitSettings } from '../../src/settings/limits.ts';

describe('the settings of limits', () => {
  it('count everything but MCP requests, whoever sets nothing', () => {
    const { mcpRequests, sharedAddresses, heldBytes, ...limits } = limitSettings.parse(undefined);
    expect(mcpRequests).toBeUndefined();
    expect(limits.toolCalls).toEqual({ times: 3000, windowSeconds: 60 });
    expect(sharedAddresses).toEqual(['160.79.104.0/21']);
    expect(heldBytes).toEqual({ perAccount: 64_000_000, total: 128_000_000, patienceSeconds: 10 });
    for (const [name, limit] of Object.entries(limits))
      expect(limit, name).toEqual({ times: expect.any(Number), windowSeconds: expect.any(Number) });
  });

  it('take 0 for no limit of the calls of a tool (FA-32)', () => {
    expect(limitSettings.parse({ toolCalls: { times: 0 } }).toolCalls.times).toBe(0);
  });

  it('keep the other half of a limit that is set in part', () => {
    expect(limitSettings.parse({ deviceCodes: { times: 3 } }).deviceCodes).toEqual({
      times: 3,
      windowSeconds: 900,
    });
    expect(limitSettings.parse({ mcpRequests: { times: 5 } }).mcpRequests).toEqual({
      times: 5,
      windowSeconds: 60,
    });
  });

  it.each([
    { logins: { times: 1 } },
    { requests: { times: 0 } },
    { requests: { windowSeconds: 86_401 } },
    { mcpRequests: {} },
    { toolCalls: { times: -1 } },
    { toolCalls: false },
    { sharedAddresses: ['everybody'] },
    { heldBytes: { perAccount: 1_000 } },
    { heldBytes: { total: '128 MB' } },
  ])('refuse %j', (value) => {
    expect(limitSettings.safeParse(value).success).toBe(false);
  });
});
