import { describe, expect, it } from 'vitest';
import { checkAnswered, negotiateRevision, withServedRevision } from '../../../src/mcp/sdk/negotiation.ts';

describe('the revision of a conversation', () => {
  it.each([
    ['2025-03-26', undefined, '2025-03-26'],
    ['2024-10-07', undefined, '2025-11-25'],
    ['1999-01-01', undefined, '2025-11-25'],
    ['2026-07-28', ['2026-07-28', '2025-11-25'], '2025-11-25'],
    ['2025-03-26', ['2025-11-25'], '2025-11-25'],
  ])('for %s, where the server speaks %j, is %s', (requested, supported, chosen) => {
    expect(negotiateRevision(requested, '2025-11-25', supported)).toBe(chosen);
  });

  it.each([
    ['2024-11-05', '2024-11-05'],
    ['2024-10-07', '2025-11-25'],
    [7, 7],
  ])('for %j is asked of a server of its own as %j', (requested, offered) => {
    const rest = { capabilities: { roots: {} }, clientInfo: { name: 'x', version: '1' } };
    const initialize = { protocolVersion: requested as string, ...rest };
    expect(withServedRevision(initialize)).toEqual({ protocolVersion: offered, ...rest });
  });

  it('is one that is served, or there is none', () => {
    const result = { capabilities: {}, serverInfo: { name: 'x', version: '1' } };
    expect(checkAnswered({ protocolVersion: '2024-11-05', ...result })).toBeUndefined();
    expect(checkAnswered({ protocolVersion: '2024-10-07', ...result })).toMatchObject({
      code: -32603,
      data: { answered: '2024-10-07' },
    });
  });
});
