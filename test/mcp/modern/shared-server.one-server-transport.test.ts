import { Server } from '@modelcontextprotocol/server';
import { describe, expect, it, vi } from 'vitest';
import { SharedServerTransport } from '../../../src/mcp/modern/shared-server.ts';
import { modernVersions } from '../support/modern-endpoint.ts';

describe('the transport of one server', () => {
  it('binds a server that lists 2026-07-28 to it, and no other', async () => {
    const bound = new Server({ name: 'a', version: '1' }, modernVersions);
    const unbound = new Server({ name: 'a', version: '1' });
    for (const server of [bound, unbound]) await server.connect(new SharedServerTransport(vi.fn(), vi.fn()));
    expect(bound.getNegotiatedProtocolVersion()).toBe('2026-07-28');
    expect(unbound.getNegotiatedProtocolVersion()).toBeUndefined();
  });

  it('gives what the server says, with the request it belongs to, and ends once', async () => {
    const hear = vi.fn();
    const onEnd = vi.fn();
    const transport = new SharedServerTransport(hear, onEnd);
    const message = { jsonrpc: '2.0', method: 'notifications/message' } as const;
    await transport.send(message, { relatedRequestId: 3 });
    expect(hear).toHaveBeenCalledExactlyOnceWith(message, 3);
    await transport.close();
    await transport.close();
    expect(onEnd).toHaveBeenCalledOnce();
  });
});
