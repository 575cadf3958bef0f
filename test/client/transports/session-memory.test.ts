import { describe, expect, it } from 'vitest';
import { announceLists, SessionMemory } from '../../../src/client/transports/session-memory.ts';

const initialize = {
  jsonrpc: '2.0' as const,
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
};
const initialized = { jsonrpc: '2.0' as const, method: 'notifications/initialized' };
const request = (id: number, method: string, params: Record<string, unknown>) => ({
  jsonrpc: '2.0' as const,
  id,
  method,
  params,
});

describe('what a session was told', () => {
  it('begins with the whole handshake, and not before', () => {
    const memory = new SessionMemory();
    memory.sent(initialize);
    expect(memory.opening).toBeUndefined();
    memory.sent(initialized);
    expect(memory.opening).toEqual({ initialize, initialized });
  });

  it('lasts where it is a log level or a subscription: the last level, and what is still subscribed to', () => {
    const memory = new SessionMemory();
    memory.sent(request(1, 'logging/setLevel', { level: 'info' }));
    memory.sent(request(2, 'logging/setLevel', { level: 'error' }));
    memory.sent(request(3, 'resources/subscribe', { uri: 'a:1' }));
    memory.sent(request(4, 'resources/subscribe', { uri: 'a:2' }));
    memory.sent(request(5, 'resources/unsubscribe', { uri: 'a:1' }));
    memory.sent(request(6, 'tools/list', {}));
    expect(memory.lasting.map(({ id }) => id)).toEqual([2, 4]);
  });
});

describe('a new session', () => {
  it('is announced by the lists that the server tells changes of', () => {
    const capabilities = { tools: { listChanged: true }, prompts: {}, resources: { listChanged: true } };
    expect(announceLists(capabilities)).toEqual([
      { jsonrpc: '2.0', method: 'notifications/tools/list_changed' },
      { jsonrpc: '2.0', method: 'notifications/resources/list_changed' },
    ]);
    expect(announceLists(undefined)).toEqual([]);
  });
});
