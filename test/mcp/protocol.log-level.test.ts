import { describe, expect, it } from 'vitest';
import { isBelow, isLogLevel } from '../../src/mcp/protocol.ts';

describe('log levels', () => {
  const message = (level: unknown) => ({
    jsonrpc: '2.0' as const,
    method: 'notifications/message',
    params: { level },
  });

  it('are the eight of RFC 5424', () => {
    expect(['debug', 'emergency', 'warn', 'toString', undefined].map(isLogLevel)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  it('hold back what is less urgent, and everything else passes', () => {
    expect(isBelow('warning', message('notice'))).toBe(true);
    expect(isBelow('warning', message('warning'))).toBe(false);
    expect(isBelow(undefined, message('debug'))).toBe(false);
    expect(isBelow('error', { ...message('debug'), method: 'notifications/progress' })).toBe(false);
  });
});
