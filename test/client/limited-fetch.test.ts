import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  isRedirect,
  limitedFetch,
  nullBodyStatuses,
  redirectToSpelling,
} from '../../src/client/limited-fetch.ts';
import { testContext } from './support/context.ts';
import { startServer } from './support/scripted-server.ts';

describe('a request of the authorization flow', () => {
  it('gives the whole answer', async () => {
    const server = await startServer({ 'GET /a': { status: 418, headers: { 'x-a': '1' }, json: { a: 1 } } });
    const response = await limitedFetch(testContext())(`${server.origin}/a`);
    expect([response.status, response.headers.get('x-a'), await response.json()]).toEqual([
      418,
      '1',
      { a: 1 },
    ]);
  });

  it('takes answers without a body', async () => {
    const server = await startServer({ 'GET /a': { status: 204, text: '' } });
    expect((await limitedFetch(testContext())(`${server.origin}/a`)).status).toBe(204);
  });

  it.each([301, 302, 303, 307, 308])('does not follow a redirect with %i (T-186)', async (status) => {
    const elsewhere = await startServer();
    const server = await startServer({
      'POST /a': { status, headers: { location: `${elsewhere.origin}/b` }, text: '' },
    });
    const sent = limitedFetch(testContext())(`${server.origin}/a`, { method: 'POST', body: 'secret' });
    await expect(sent).rejects.toMatchObject({ reason: 'redirected' });
    expect(elsewhere.requests).toEqual([]);
  });

  it('counts bytes after decompression, so that a bomb does not get through', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    const server = await startServer({
      'GET /a': {
        raw: (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
      },
    });
    await expect(limitedFetch(testContext())(`${server.origin}/a`)).rejects.toMatchObject({
      reason: 'too_large',
    });
  });

  it('ends when the answer, or its body, takes too long', async () => {
    const server = await startServer({
      'GET /silent': { raw: () => undefined },
      'GET /slow': { raw: (response) => response.writeHead(200).write('{') },
    });
    const context = { ...testContext(), timeoutMs: 100 };
    for (const path of ['/silent', '/slow'])
      await expect(limitedFetch(context)(server.origin + path)).rejects.toMatchObject({
        reason: 'timed_out',
      });
  });

  it('says why a server cannot be reached', async () => {
    const server = await startServer();
    const free = new URL(server.origin);
    free.port = '1';
    await expect(limitedFetch(testContext())(free.href)).rejects.toMatchObject({
      reason: 'unreachable',
      message: expect.stringMatching(/cannot be reached: (ECONNREFUSED|bad port)/),
    });
  });

  it('goes to checked URLs only (T-182)', async () => {
    await expect(limitedFetch(testContext())('http://x.example/')).rejects.toMatchObject({
      reason: 'bad_url',
    });
  });
});

describe('http answer', () => {
  describe('an answer', () => {
    it.each([
      [200, false],
      [302, true],
      [304, false],
      [307, true],
      [404, false],
    ])('of status %i leads elsewhere: %s (T-186)', (status, expected) => {
      expect(isRedirect({ status, type: 'default' })).toBe(expected);
    });

    it('that a browser hides because it is a redirect leads elsewhere, too', () => {
      expect(isRedirect({ status: 0, type: 'opaqueredirect' })).toBe(true);
    });

    it('of a status without a body can be built only without one', () => {
      for (const status of nullBodyStatuses) expect(() => new Response('body', { status })).toThrow();
    });
  });

  it.each([
    ['https://x.dev/mcp', 308, '/mcp/', 'https://x.dev/mcp/'],
    ['https://x.dev/mcp/', 307, 'https://x.dev/mcp', 'https://x.dev/mcp'],
    ['https://x.dev/mcp', 302, '/mcp/', undefined],
    ['https://x.dev/mcp', 308, '/mcp', undefined],
    ['https://x.dev/mcp', 308, '/login', undefined],
    ['https://x.dev/mcp', 308, 'https://y.dev/mcp/', undefined],
    ['https://x.dev/mcp', 308, 'http://x.dev/mcp/', undefined],
  ])(
    'a request to %s that is answered %i to %s goes on to %s (FA-27, T-186)',
    (url, status, location, to) => {
      expect(redirectToSpelling(url, new Response(null, { status, headers: { location } }))).toBe(to);
    },
  );
});
