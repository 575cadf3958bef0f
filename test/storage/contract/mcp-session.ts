import type { SessionCaps, StoredSession } from '../../../src/storage/mcp-sessions.ts';
import { startOfTime } from './subject.ts';

/** Caps that no test reaches by chance. */
export const wide: SessionCaps = { maxPerPrincipal: 1000, maxTotal: 1000 };

/** An MCP session under this key; `more` over the defaults. */
export function session(key: string, more: Partial<StoredSession> = {}): StoredSession {
  return {
    key,
    principal: 'ada',
    grantHash: null,
    initialize: JSON.stringify({ protocolVersion: '2025-11-25', clientInfo: { name: key, version: '1' } }),
    protocolVersion: '2025-11-25',
    isInitialized: false,
    logLevel: null,
    subscriptions: [],
    createdAt: startOfTime,
    usedAt: startOfTime,
    ...more,
  };
}
