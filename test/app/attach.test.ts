import { createServer, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import Koa from 'koa';
import { describe, expect, it, vi } from 'vitest';
import { attachTo } from '../../src/app/attach.ts';

const listener = (): void => undefined;

describe('what is attached', () => {
  it('is a server of node:http or node:https, which is served with time limits for proxies', () => {
    const warn = vi.fn();
    for (const server of [createServer(), createSecureServer()]) {
      attachTo(server, listener, { warn });
      expect(server.listeners('request')).toEqual([listener]);
      expect([server.keepAliveTimeout, server.requestTimeout]).toEqual([75_000, 60_000]);
    }
    expect(warn).not.toHaveBeenCalled();
  });

  it.each([
    ['an app of Koa', new Koa()],
    ['a function with listeners, as an app of Express is', Object.assign(() => undefined, { on: listener })],
    ['nothing', undefined],
  ])('is not %s', (_kind, given) => {
    expect(() => attachTo(given as unknown as Server, listener, { warn: vi.fn() })).toThrow(
      'attach takes a Node HTTP server',
    );
  });

  it('is not attached a second time', () => {
    const server = createServer();
    attachTo(server, listener, { warn: vi.fn() });
    expect(() => attachTo(server, listener, { warn: vi.fn() })).toThrow('attached already');
    expect(server.listenerCount('request')).toBe(1);
  });

  it('is warned of where it has a listener of its own, which answers, too', () => {
    const warn = vi.fn();
    attachTo(createServer(listener), listener, { warn });
    expect(warn.mock.calls).toEqual([[expect.stringContaining('a listener for requests of its own')]]);
  });
});
