import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Fault } from '../support/server.ts';
import { openMcp, seen } from './open-server.ts';

const head = { 'content-type': 'text/event-stream' };

describe('PROXY-BUFFERING', () => {
  it('passes where the first byte comes at once', async () => {
    expect(await seen('PROXY-BUFFERING', openMcp())).toMatchObject({ verdict: 'pass' });
  });

  it('finds a stream whose head is held back (GW-6)', async () => {
    const found = await seen(
      'PROXY-BUFFERING',
      openMcp(() => undefined),
    );
    expect(found).toMatchObject({ verdict: 'fail', saw: expect.stringContaining('not even its head') });
  });

  it('finds a first byte that takes long', async () => {
    const slow = openMcp((response) => {
      response.writeHead(200, head).flushHeaders();
      setTimeout(() => response.write(': late\n\n'), 2200);
    });
    expect(await seen('PROXY-BUFFERING', slow)).toMatchObject({
      verdict: 'fail',
      saw: expect.stringContaining('took 2.'),
    });
  });

  it('cannot tell at a server without a stream, or without a login', async () => {
    const without = await seen('PROXY-BUFFERING', (server) => {
      openMcp()(server);
      server.routes['GET /mcp'] = () => ({ status: 405 });
    });
    expect(without).toMatchObject({ verdict: 'unknown', saw: expect.stringContaining('405') });
    expect(await seen('PROXY-BUFFERING')).toMatchObject({ verdict: 'unknown' });
  });
});

describe('PROXY-COMPRESSION', () => {
  it('finds a stream that is compressed', async () => {
    const zipped = openMcp((response) => {
      response.writeHead(200, { ...head, 'content-encoding': 'gzip' });
      response.write(gzipSync(': open\n\n'));
    });
    expect(await seen('PROXY-COMPRESSION', zipped)).toMatchObject({
      verdict: 'warn',
      saw: expect.stringContaining('gzip'),
    });
    expect(await seen('PROXY-COMPRESSION', openMcp())).toMatchObject({ verdict: 'pass' });
  });
});

describe('PROXY-IDLE', () => {
  it('finds a stream that is cut, and says after how long (GW-7)', async () => {
    const cut = openMcp((response) => {
      response.writeHead(200, head).write(': open\n\n');
      setTimeout(() => response.destroy(), 400);
    });
    const found = await seen('PROXY-IDLE', cut);
    expect(found).toMatchObject({
      verdict: 'fail',
      saw: expect.stringMatching(/cut 0\.[3-9] s after it began/),
    });
  });

  it('passes where it stays open, and tells how long is left', async () => {
    const left: number[] = [];
    const found = await seen('PROXY-IDLE', openMcp(), {
      idleSeconds: 2,
      onWait: (seconds) => left.push(seconds),
    });
    expect(found).toMatchObject({ verdict: 'pass', saw: expect.stringContaining('stayed open for 2 s') });
    expect(left[0]).toBe(1);
  });
});

describe('sizes', () => {
  const limits =
    (bytes: number): Fault =>
    (server) => {
      const sound = server.routes['POST /mcp'];
      if (sound)
        server.routes['POST /mcp'] = (request) =>
          (request.headers.authorization ?? '').length > bytes ? { status: 431 } : sound(request);
    };

  describe('PROXY-HEADER-SIZE', () => {
    it.each([
      [2_000, 'fail', '4000 bytes'],
      [6_000, 'warn', '8000 bytes'],
      [12_000, 'pass', '8000 bytes arrived'],
    ])('with a limit of %i bytes: %s', async (bytes, verdict, saw) => {
      expect(await seen('PROXY-HEADER-SIZE', limits(bytes))).toMatchObject({
        verdict,
        saw: expect.stringContaining(saw),
      });
    });
  });

  describe('PROXY-BODY-SIZE', () => {
    const answers =
      (reply: object): Fault =>
      (server) => {
        const sound = server.routes['POST /mcp'];
        if (sound)
          server.routes['POST /mcp'] = (request) =>
            request.body.length > 1_000_000 ? reply : sound(request);
      };

    it.each([
      [
        'a page of the proxy',
        { status: 413, headers: { 'content-type': 'text/html' }, text: '<h1>413</h1>' },
        'warn',
      ],
      ['a proxy that breaks', { status: 500, text: '' }, 'warn'],
      ['the server itself', { status: 413, json: { error: 'too large' } }, 'pass'],
    ])('tells %s', async (_who, reply, verdict) => {
      expect(await seen('PROXY-BODY-SIZE', answers(reply))).toMatchObject({ verdict });
    });

    it('passes where it arrives', async () => {
      expect(await seen('PROXY-BODY-SIZE')).toMatchObject({ verdict: 'pass' });
    });
  });
});
