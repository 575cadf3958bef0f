import { SdkErrorCode, SdkHttpError, type Transport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import {
  announceLists,
  isSessionLost,
  SessionMemory,
} from '../../../src/client/transports/session-memory.ts';

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

describe('session loss', () => {
  const refused = (status: number, text = ''): SdkHttpError =>
    new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, 'refused', { status, text });
  const within: Transport = {
    start: async () => undefined,
    send: async () => undefined,
    close: async () => undefined,
    sessionId: 's',
  };

  describe('a lost session', () => {
    it.each([
      ['404 (B3-11)', refused(404), true],
      [
        '400 that speaks of sessions',
        refused(400, '{"error":{"message":"No valid session ID provided"}}'),
        true,
      ],
      ['another 400', refused(400, 'bad JSON'), false],
      ['401', refused(401, 'session'), false],
      ['a failure of the network', new TypeError('fetch failed'), false],
      ['404 to a POST of HTTP+SSE', new Error('Error POSTing to endpoint (HTTP 404): x'), true],
      ['500 to a POST of HTTP+SSE', new Error('Error POSTing to endpoint (HTTP 500): 404'), false],
    ])('shows by %s: %#', (_name, error, lost) => {
      expect(isSessionLost(error, within)).toBe(lost);
    });

    it('needs a session that was there', () => {
      expect(isSessionLost(refused(404), { ...within, sessionId: undefined })).toBe(false);
    });
  });
});
