import { describe, expect, it } from 'vitest';
import { mayHear } from '../../src/mcp/protocol.ts';

const request = (level?: unknown) => ({
  jsonrpc: '2.0' as const,
  id: 1,
  method: 'tools/call',
  params: { _meta: level === undefined ? {} : { 'io.modelcontextprotocol/logLevel': level } },
});
const log = (level: string) => ({
  jsonrpc: '2.0' as const,
  method: 'notifications/message',
  params: { level },
});

describe('log messages (C6-04)', () => {
  it.each([
    ['warning', 'error', true],
    ['warning', 'warning', true],
    ['warning', 'notice', false],
    ['debug', 'debug', true],
    [undefined, 'emergency', false],
    ['loud', 'emergency', false],
    ['debug', 'loud', false],
  ])('of a request that asks for %s: %s %s', (wanted, level, may) => {
    expect(mayHear(request(wanted), log(level))).toBe(may);
  });

  it('are not other notifications', () => {
    expect(mayHear(request(), { jsonrpc: '2.0', method: 'notifications/progress' })).toBe(true);
  });
});
