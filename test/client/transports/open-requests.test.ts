import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { OpenRequests, OwnRequests } from '../../../src/client/transports/open-requests.ts';

const request = (id: number, method: string) => ({ jsonrpc: '2.0' as const, id, method });

const unused = async (): Promise<void> => undefined;

describe('requests that wait for answers', () => {
  it('are known until they are answered, cancelled or aborted', () => {
    const requests = new OpenRequests();
    const abort = new AbortController();
    requests.add(request(1, 'tools/list'), {});
    requests.add(request(2, 'tools/list'), {});
    requests.add(request(3, 'tools/list'), { requestSignal: abort.signal });
    expect(requests.answered(1)?.message.id).toBe(1);
    requests.cancelled(2);
    abort.abort();
    expect([1, 2, 3, undefined].map((id) => requests.answered(id))).toEqual(Array(4).fill(undefined));
  });

  it('are taken once a server has them', () => {
    const requests = new OpenRequests();
    requests.add(request(1, 'tools/call'), {});
    requests.add(request(2, 'tools/call'), {});
    const transport = { start: unused, send: unused, close: unused };
    for (const id of [1, 2]) requests.sending(id, transport);
    requests.taken(2);
    expect(requests.takenBy(transport)).toEqual([2]);
    requests.answered(1);
    expect(requests.areOpen(transport)).toBe(true);
    requests.answered(2);
    expect(requests.areOpen(transport)).toBe(false);
  });

  it('are sent again once, with a new id, where they change nothing (B5-14)', () => {
    const requests = new OpenRequests();
    requests.add(request(1, 'tools/list'), {});
    const first = requests.answered(1);
    const again = first && requests.repeat(first);
    expect(again).toMatchObject({ method: 'tools/list' });
    expect(again?.id).not.toBe(1);
    const second = requests.answered(again?.id);
    expect(second?.message.id).toBe(1);
    expect(second && requests.repeat(second)).toBeUndefined();
  });

  it('are never sent again where they may have had their effect', () => {
    const requests = new OpenRequests();
    for (const method of ['tools/call', 'resources/subscribe', 'initialize', 'x/own']) {
      requests.add(request(1, method), {});
      const open = requests.answered(1);
      expect(open && requests.repeat(open), method).toBeUndefined();
    }
  });
});

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
