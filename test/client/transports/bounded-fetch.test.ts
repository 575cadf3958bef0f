import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { boundedBody, boundedFetch, createEventMeter } from '../../../src/client/transports/bounded-fetch.ts';
import { closedOrigin } from '../support/closed-origin.ts';
import { startServer } from '../support/scripted-server.ts';

const limits = { maxAnswerBytes: 64 * 1024 };
const bounded = boundedFetch(globalThis.fetch, limits);

describe('a fetch for MCP messages', () => {
  it('gives answers as they are', async () => {
    const { origin } = await startServer({
      'POST /': { status: 400, headers: { 'x-a': 'b' }, json: { a: 1 } },
      'GET /': { status: 204 },
    });
    const response = await bounded(origin, { method: 'POST', body: '{}' });
    expect([response.status, response.headers.get('x-a'), await response.json()]).toEqual([
      400,
      'b',
      { a: 1 },
    ]);
    expect((await bounded(origin)).status).toBe(204);
  });

  it.each([301, 302, 303, 307, 308])(
    'does not follow a redirect with %s, and names where it leads (T-186)',
    async (status) => {
      const other = await startServer();
      const server = await startServer({
        'POST /mcp': { status, headers: { location: `${other.origin}/x?secret=1` }, text: '' },
      });
      const sent = bounded(`${server.origin}/mcp`, {
        method: 'POST',
        body: '{}',
        headers: { authorization: 'Bearer at' },
      });
      await expect(sent).rejects.toMatchObject({
        reason: 'redirected',
        message: expect.stringMatching(new RegExp(`use ${other.origin}/x as the URL`)),
      });
      expect(other.requests).toEqual([]);
    },
  );

  it.each(['/mcp', 'javascript:alert(1)', ''])('recommends no redirect to %j', async (location) => {
    const { origin } = await startServer({ 'GET /mcp': { status: 302, headers: { location }, text: '' } });
    await expect(bounded(`${origin}/mcp`)).rejects.toMatchObject({
      reason: 'redirected',
      message: expect.stringMatching(/which is not followed\.$/),
    });
  });

  it('ends waiting for a head that never comes (T-189)', async () => {
    const { origin } = await startServer({ 'GET /': { raw: () => undefined } });
    const impatient = boundedFetch(globalThis.fetch, { headTimeoutMs: 100 });
    await expect(impatient(origin)).rejects.toMatchObject({ reason: 'timed_out' });
  });

  it('breaks off a body of 1 GB, and one that is small only while it is packed (T-189)', async () => {
    const part = Buffer.alloc(16 * 1024, 'a');
    let sent = 0;
    const server = await startServer({
      'GET /long': {
        raw: (response) => {
          const push = (): void => {
            while (sent < 1e9 && response.write(part)) sent += part.length;
            response.once('drain', push);
          };
          response.writeHead(200, { 'content-type': 'application/json' });
          push();
        },
      },
      'GET /bomb': {
        raw: (response) =>
          response
            .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
            .end(gzipSync(Buffer.alloc(10 * 1024 * 1024))),
      },
    });
    for (const path of ['long', 'bomb']) {
      const response = await bounded(`${server.origin}/${path}`);
      await expect(response.text()).rejects.toMatchObject({ reason: 'too_large' });
    }
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });

  it('breaks off an event stream without delimiters (T-189)', async () => {
    const { origin } = await startServer({
      'GET /': {
        raw: (response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          const push = (): void => {
            while (response.write(`data: ${'a'.repeat(8192)}\n`));
            response.once('drain', push);
          };
          push();
        },
      },
    });
    await expect((await bounded(origin)).text()).rejects.toMatchObject({
      reason: 'too_large',
      message: expect.stringContaining('an event of more than 64 KiB'),
    });
  });

  it('says in words why a server cannot be reached', async () => {
    const origin = await closedOrigin();
    await expect(bounded(origin)).rejects.toMatchObject({
      reason: 'unreachable',
      message: `${origin} cannot be reached: the connection was refused (ECONNREFUSED).`,
    });
  });

  it('leaves it to its caller to end a request', async () => {
    const { origin } = await startServer({ 'GET /': { raw: () => undefined } });
    await expect(bounded(origin, { signal: AbortSignal.timeout(20) })).rejects.toMatchObject({
      name: 'TimeoutError',
    });
  });
});

describe('answer limits', () => {
  const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
  const url = 'https://mcp.example.com/mcp';

  function measure(...chunks: string[]): number {
    const meter = createEventMeter();
    return Math.max(...chunks.map((chunk) => meter(bytes(chunk))));
  }

  describe('the length of an event', () => {
    it.each([
      ['LF', 'data: a\n\ndata: b\n\n', 9],
      ['CR', 'data: a\r\rdata: b\r\r', 9],
      ['CR LF', 'data: a\r\n\r\ndata: b\r\n\r\n', 11],
    ])('ends at a blank line, lines ending with %s', (_name, text, atMost) => {
      expect(measure(text)).toBeLessThanOrEqual(atMost);
    });

    it('goes on over lines and chunks until there is one', () => {
      expect(measure('data: a\n', 'data: b\n', 'data: c')).toBe(23);
      expect(measure('data: a\r', '\ndata: b\r\n')).toBe(18);
    });
  });

  describe('a bounded body', () => {
    const read = (type: string, parts: string[], max: number): Promise<string> => {
      const stream = new ReadableStream({
        start(controller) {
          for (const part of parts) controller.enqueue(bytes(part));
          controller.close();
        },
      });
      const response = new Response(stream, { headers: { 'content-type': type } });
      return new Response(boundedBody(response, url, max)).text();
    };

    it('is read up to its limit, and not further (T-189)', async () => {
      expect(await read('application/json', ['1234', '5678'], 8)).toBe('12345678');
      await expect(read('application/json', ['1234', '56789'], 8)).rejects.toMatchObject({
        reason: 'too_large',
      });
    });

    it('of an event stream may be longer than its longest event', async () => {
      const event = 'data: 12\n\n';
      expect(await read('text/event-stream; charset=utf-8', [event, event, event], 10)).toBe(event.repeat(3));
      await expect(read('text/event-stream', ['data: 1', 'data: 2'], 10)).rejects.toMatchObject({
        reason: 'too_large',
      });
    });

    it('is none where there is none', () => {
      expect(boundedBody(new Response(null, { status: 204 }), url, 1)).toBeNull();
    });
  });
});
