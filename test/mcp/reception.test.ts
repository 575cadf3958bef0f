import { type JSONRPCMessage, McpServer, Server, type Transport } from '@modelcontextprotocol/server';
import { describe, expect, it, vi } from 'vitest';
import type { Message } from '../../src/mcp/checks/messages.ts';
import type { McpLike } from '../../src/mcp/mcp-like.ts';
import { Reception, type Take } from '../../src/mcp/reception.ts';

/** A transport whose messages go where its reception says, and what the server has answered. */
function createTransport() {
  const reception = new Reception();
  const answered: unknown[] = [];
  const transport: Transport = {
    get onmessage() {
      return reception.take;
    },
    set onmessage(take) {
      reception.take = take;
    },
    start: async () => {},
    async send(message: JSONRPCMessage) {
      answered.push(message);
    },
    close: async () => {},
  };
  const open = async (server: McpLike): Promise<void> => {
    await server.connect(transport);
    reception.connected(server, transport);
  };
  const hand = async (message: object): Promise<unknown> => {
    reception.takerOf(message as Message)?.(message as JSONRPCMessage);
    await new Promise((resolve) => setImmediate(resolve));
    return answered.pop();
  };
  return { reception, transport, open, hand };
}

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
/** The SDK's schemas take this for no message, so that only who goes past them answers. */
const unlikely = { ...ping, beside: 'a request' };
const answer = { jsonrpc: '2.0', id: 1, result: {} };
const createServers = (): McpLike[] => [
  new Server({ name: 'a', version: '1' }),
  new McpServer({ name: 'a', version: '1' }),
];

describe('the reception of a transport', () => {
  it('hands requests to the SDK without having it guess what they are', async () => {
    for (const server of createServers()) {
      const { open, hand } = createTransport();
      await open(server);
      expect(await hand(ping)).toEqual(answer);
      expect(await hand(unlikely)).toEqual(answer);
    }
  });

  it('has nobody take anything before a server is connected', () => {
    expect(new Reception().takerOf(ping as Message)).toBeUndefined();
  });

  it('hands notifications and answers over in the usual way', async () => {
    const { reception, open } = createTransport();
    await open(new Server({ name: 'a', version: '1' }));
    for (const message of [{ method: 'notifications/initialized' }, { id: 1 }])
      expect(reception.takerOf({ jsonrpc: '2.0', ...message })).toBe(reception.take);
  });

  it('shows every message to who began or begins to listen, as programs that trace servers do', async () => {
    const before = vi.fn();
    const began = createTransport();
    began.transport.onmessage = before;
    await began.open(new Server({ name: 'a', version: '1' }));
    expect(await began.hand(ping)).toEqual(answer);
    expect(before).toHaveBeenCalledOnce();

    const after = vi.fn();
    const begins = createTransport();
    await begins.open(new Server({ name: 'a', version: '1' }));
    expect(await begins.hand(ping)).toEqual(answer);
    const theirs = begins.transport.onmessage as Take;
    begins.transport.onmessage = (...said) => {
      after();
      theirs(...said);
    };
    expect(await begins.hand(ping)).toEqual(answer);
    expect(after).toHaveBeenCalledOnce();
  });

  it('hands everything over in the usual way where the server is not what it knows', async () => {
    const changed = new Server({ name: 'a', version: '1' });
    Object.defineProperty(changed, '_onrequest', { value: vi.fn(), configurable: true });
    const behindAnother = new Server({ name: 'a', version: '1' });
    const connect = behindAnother.connect.bind(behindAnother);
    behindAnother.connect = async (transport) => {
      transport.onmessage = vi.fn();
      await connect({ start: async () => {}, send: async () => {}, close: async () => {} });
    };
    const withoutSdk: McpLike = {
      async connect(transport) {
        transport.onmessage = vi.fn();
      },
      close: async () => {},
    };
    for (const server of [changed, behindAnother, withoutSdk]) {
      const { reception, open } = createTransport();
      await open(server);
      expect(reception.takerOf(ping as Message)).toBe(reception.take);
    }
  });
});
