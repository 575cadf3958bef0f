import { describe, expect, it } from 'vitest';
import { notServed } from '../../../src/mcp/modern/not-served.ts';
import { callBackend } from '../support/modern-calls.ts';

describe('a server that does not speak 2026-07-28', () => {
  it('tells clients which revisions it has (B5-05, B5-15)', async () => {
    const { answer } = await callBackend(notServed, 'tools/list');
    expect(answer).toMatchObject({
      status: 400,
      error: {
        code: -32022,
        data: {
          requested: '2026-07-28',
          supported: ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'],
        },
      },
    });
  });
});
