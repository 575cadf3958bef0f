import { describe, expect, it } from 'vitest';
import { Told } from '../../../src/gateway/backends/told.ts';

function tell(
  told: Told,
  ...requests: [method: string, params: Record<string, unknown>, isResult: boolean][]
): void {
  for (const [id, [method, params, isResult]] of requests.entries()) {
    told.say({ jsonrpc: '2.0', id, method, params });
    told.answered(id, isResult);
  }
}

describe('what a server was told', () => {
  it('is initialize, that the client is ready, its log level and its subscriptions, as far as the server took them', () => {
    const told = new Told();
    expect(told.wasInitialized).toBe(false);
    tell(told, ['initialize', { protocolVersion: '2025-11-25' }, true]);
    told.say({ jsonrpc: '2.0', method: 'notifications/initialized' });
    tell(
      told,
      ['logging/setLevel', { level: 'info' }, true],
      ['logging/setLevel', { level: 'refused' }, false],
      ['resources/subscribe', { uri: 'a:1' }, true],
      ['resources/subscribe', { uri: 'a:2' }, true],
      ['resources/subscribe', { uri: 'a:3' }, false],
      ['resources/unsubscribe', { uri: 'a:1' }, true],
      ['tools/call', { name: 'x' }, true],
    );
    expect(told.initialize).toEqual({ method: 'initialize', params: { protocolVersion: '2025-11-25' } });
    expect(told.afterInitialize()).toEqual([
      { method: 'notifications/initialized' },
      { method: 'logging/setLevel', params: { level: 'info' } },
      { method: 'resources/subscribe', params: { uri: 'a:2' } },
    ]);
    expect(told.hasSubscriptions).toBe(true);
  });

  it('is nothing before initialize was answered', () => {
    const told = new Told();
    told.say({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} });
    expect(told.wasInitialized).toBe(false);
    expect(told.afterInitialize()).toEqual([]);
  });
});
