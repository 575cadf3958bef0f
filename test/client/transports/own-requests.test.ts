import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { OwnRequests } from '../../../src/client/transports/own-requests.ts';

describe('requests of a transport itself', () => {
  it('get the answer to their own id, and take no other', async () => {
    const own = new OwnRequests();
    const sent: JSONRPCMessage[] = [];
    const transport: Transport = {
      start: async () => undefined,
      close: async () => undefined,
      send: async (message) => void sent.push(message),
    };
    const asked = own.ask(transport, { jsonrpc: '2.0', method: 'ping' });
    const [{ id } = { id: undefined }] = sent as { id?: string }[];
    expect(own.take({ jsonrpc: '2.0', id: 1, result: {} })).toBe(false);
    expect(own.take({ jsonrpc: '2.0', method: 'ping', id: id ?? '' })).toBe(false);
    const answer = { jsonrpc: '2.0' as const, id: id ?? '', result: { a: 1 } };
    expect(own.take(answer)).toBe(true);
    expect(await asked).toEqual(answer);
    expect(own.take(answer)).toBe(false);
  });

  it('fail with the transport', async () => {
    const broken: Transport = {
      start: async () => undefined,
      close: async () => undefined,
      send: () => Promise.reject(new Error('broken')),
    };
    await expect(new OwnRequests().ask(broken, { jsonrpc: '2.0', method: 'ping' })).rejects.toThrow('broken');
  });
});
