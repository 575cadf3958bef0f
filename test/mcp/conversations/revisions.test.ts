import { describe, expect, it } from 'vitest';
import { negotiateRevision } from '../../../src/mcp/conversations/revisions.ts';

describe('the revision of a conversation', () => {
  it.each([
    ['2025-03-26', undefined, '2025-03-26'],
    ['2024-10-07', undefined, '2024-10-07'],
    ['1999-01-01', undefined, '2025-11-25'],
    ['2026-07-28', ['2026-07-28', '2025-11-25'], '2025-11-25'],
    ['2025-03-26', ['2025-11-25'], '2025-11-25'],
  ])('for %s, where the server speaks %j, is %s', (requested, supported, chosen) => {
    expect(negotiateRevision(requested, '2025-11-25', supported)).toBe(chosen);
  });
});
