import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { limitedFetch } from '../../src/client/limited-fetch.ts';
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
