import { describe, expect, it } from 'vitest';
import type { Fault } from '../support/server.ts';
import { seen } from './open-server.ts';

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
        server.routes['POST /mcp'] = (request) => (request.body.length > 1_000_000 ? reply : sound(request));
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
