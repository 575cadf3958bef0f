import { describe, expect, it } from 'vitest';
import { mcpSettings } from '../../src/settings/mcp.ts';

describe('the settings of the MCP endpoint', () => {
  it('have bounds on everything a caller can make grow', () => {
    expect(mcpSettings.parse(undefined)).toEqual({
      maxBodyBytes: 4_194_304,
      sessions: 'stored',
      sessionIdleSeconds: 1800,
      maxSessions: 10_000,
      maxSessionsPerPrincipal: 100,
      maxStreamsPerPrincipal: 64,
      maxCallsPerPrincipal: 256,
      eventSeconds: 3600,
      maxEventsPerSession: 1000,
      maxEventBytesPerSession: 4_194_304,
    });
  });

  it.each([
    { maxBodyBytes: 1023 },
    { sessions: 'memory' },
    { sessionIdleSeconds: 86_401 },
    { maxSessions: 0 },
    { maxSessionsPerPrincipal: 0 },
    { maxStreamsPerPrincipal: 0 },
    { maxCallsPerPrincipal: 0 },
    { maxEventsPerSession: 0 },
    { maxEventBytesPerSession: 1 },
  ])('refuse %j', (value) => {
    expect(mcpSettings.safeParse(value).success).toBe(false);
  });
});
