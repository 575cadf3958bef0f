import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createSecureServer as createHttp2Server } from 'node:http2';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import Koa from 'koa';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { attachTo } from '../../src/app/http-server.ts';
import { createGatehouse } from '../../src/index.ts';
import { openDataFolder } from '../../src/storage/sqlite/index.ts';
import { testFolder } from '../client/support/folder.ts';

const listener = (): void => undefined;
const running = { listener, isOver: () => false };

describe('what is attached', () => {
  it('is a server of node:http, node:https or node:http2, which is served with time limits for proxies', () => {
    const warn = vi.fn();
    for (const server of [createServer(), createSecureServer(), createHttp2Server() as unknown as Server]) {
      attachTo(server, running, { warn });
      expect(server.listeners('request')).toEqual([listener]);
      expect([server.keepAliveTimeout, server.requestTimeout]).toEqual([75_000, 60_000]);
    }
    expect(warn).not.toHaveBeenCalled();
  });

  it.each([
    ['an app of Koa', new Koa()],
    ['a function with listeners, as an app of Express is', Object.assign(() => undefined, { on: listener })],
    ['a server of TCP', createTcpServer()],
    ['nothing', undefined],
  ])('is not %s', (_kind, given) => {
    expect(() => attachTo(given as unknown as Server, running, { warn: vi.fn() })).toThrow(
      'attach takes a Node HTTP server',
    );
  });

  it('is not attached a second time', () => {
    const server = createServer();
    attachTo(server, running, { warn: vi.fn() });
    expect(() => attachTo(server, running, { warn: vi.fn() })).toThrow('attached already');
    expect(server.listenerCount('request')).toBe(1);
  });

  it('is attached anew when the gatehouse that served it is over, or its listener was taken off', () => {
    const server = createServer();
    const warn = vi.fn();
    const former = { listener: () => undefined, isOver: () => true };
    attachTo(server, former, { warn });
    attachTo(server, running, { warn });
    expect(server.listeners('request')).toEqual([listener]);
    server.off('request', listener);
    attachTo(server, former, { warn });
    expect(server.listeners('request')).toEqual([former.listener]);
    expect(warn).not.toHaveBeenCalled();
  });

  it('is warned of where it has a listener of its own, which may answer, too', () => {
    const warn = vi.fn();
    attachTo(createServer(listener), running, { warn });
    expect(warn.mock.calls).toEqual([[expect.stringContaining('another listener for requests')]]);
  });
});

it('a second gatehouse serves the server of one that was closed', async () => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const statusOfReadiness = async () => {
    const { port } = server.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`, { headers: { connection: 'close' } });
    return answer.status;
  };
  for (const _ of [1, 2]) {
    const folder = await openDataFolder(testFolder());
    const gatehouse = await createGatehouse({
      publicUrl: 'http://localhost:4000',
      ...folder,
      log: { level: 'silent' },
    });
    gatehouse.attach(server);
    expect(() => gatehouse.attach(server)).toThrow('attached already');
    expect(await statusOfReadiness()).toBe(200);
    await gatehouse.close();
    expect(await statusOfReadiness()).toBe(503);
    await folder.storage.close();
  }
});
