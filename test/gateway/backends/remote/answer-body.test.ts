import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Pieces } from '../../../../src/gateway/backends/remote/answer-body.ts';
import { collectGarbage } from '../../../support/garbage.ts';
import { backendAt, begin, begins, serve } from '../stdio/support/talk.ts';

const codings = [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['GZIP', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
] as const;
const big = 'x'.repeat(300_000);

describe('an answer that is coded, though it was asked for as it is (FA-46)', () => {
  it.each(codings)('is read: %s, as JSON, as events and as a refusal', async (coding, code) => {
    const { url, asked } = await serve((request, response) => {
      if (begins(request, response)) return;
      const { id, params } = request.body;
      const kind = params?.name;
      const answer = JSON.stringify({ jsonrpc: '2.0', id, result: { kind, big } });
      const error = JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32602, message: 'as it is' } });
      const [status, type, body]: [number, string, string] = (
        {
          json: [200, 'application/json', answer],
          events: [200, 'text/event-stream', `data: ${answer}\n\n`],
          refusal: [400, 'application/json', error],
        } as Record<string, [number, string, string]>
      )[String(kind)] ?? [405, 'text/plain', ''];
      response.writeHead(status, { 'content-type': type, 'content-encoding': coding }).end(code(body));
    });
    const talk = await begin(backendAt({ url, transport: 'http' }));
    expect((await talk.ask('tools/call', { name: 'json' })).result).toEqual({ kind: 'json', big });
    expect((await talk.ask('tools/call', { name: 'events' })).result).toEqual({ kind: 'events', big });
    expect((await talk.ask('tools/call', { name: 'refusal' })).error?.message).toBe('as it is');
    expect(asked.map(({ headers }) => headers['accept-encoding'])).toEqual(
      Array(asked.length).fill('identity'),
    );
  });

  it('is not unpacked beyond the largest answer that is read', async () => {
    const bomb = gzipSync(Buffer.alloc(200_000_000, 0x20));
    const { url } = await serve((request, response) => {
      if (begins(request, response)) return;
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(bomb);
    });
    const talk = await begin(backendAt({ url, transport: 'http', maxAnswerBytes: 1_000_000 }));
    const before = process.memoryUsage().rss;
    expect((await talk.ask('tools/call')).error?.data?.reason).toBe('backend_answer_too_large');
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
  });

  it.each([
    ['compress', 'backend_answer_unreadable', gzipSync('{}')],
    ['gzip', 'backend_not_http', Buffer.from('no gzip')],
    ['gzip, br', 'backend_answer_unreadable', gzipSync('{}')],
  ])('is unreadable if it is coded as %s: %s', async (coding, reason, body) => {
    const { url } = await serve((request, response) => {
      if (begins(request, response)) return;
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': coding }).end(body);
    });
    const talk = await begin(backendAt({ url, transport: 'http' }));
    expect((await talk.ask('tools/call')).error?.data?.reason).toBe(reason);
  });
});

describe('an error in the answer to a POST of one request', () => {
  const error = { code: -32602, message: 'There is no such order.' };
  const answers = (body: object, status: number) =>
    serve((request, response) => {
      if (begins(request, response)) return;
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });

  it.each([
    ['http', 200, null],
    ['http', 400, null],
    ['http', 422, 'made up'],
    ['http', 200, undefined],
    ['rest', 200, null],
    ['rest', 400, 7_000_000],
  ] as const)('answers it, though it names none: %s, %i, %s (FA-47)', async (transport, status, id) => {
    const { url } = await answers({ jsonrpc: '2.0', ...(id !== undefined && { id }), error }, status);
    const talk = await begin(backendAt({ url, transport }));
    expect((await talk.ask('tools/call')).error).toEqual(error);
  });

  it.each([
    [{ jsonrpc: '2.0', id: null, result: {} }, 'backend_answer_unreadable'],
    [
      [
        { jsonrpc: '2.0', id: null, error },
        { jsonrpc: '2.0', id: 'x', error },
      ],
      'backend_answer_unreadable',
    ],
  ])('is no answer where it may be another: %j', async (body, reason) => {
    const { url } = await answers(body, 200);
    const talk = await begin(backendAt({ url, transport: 'http' }));
    expect((await talk.ask('tools/call')).error?.data?.reason).toBe(reason);
  });
});

describe('pieces of a body', () => {
  /** Memory in use that is no garbage, in bytes. */
  function held(): number {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  }

  describe('pieces', () => {
    it('are what came, in its order, whatever their sizes, and begin anew once they are taken', () => {
      const pieces = new Pieces();
      expect(pieces.isEmpty).toBe(true);
      for (const sizes of [[], [5], [1, 1, 1], [3000, 1, 2, 3000, 0, 7], Array(40).fill(1000), [0, 1, 0]]) {
        const parts = sizes.map((size, at) => Buffer.alloc(size, at + 1));
        for (const part of parts) pieces.add(part);
        expect(pieces.isEmpty).toBe(Buffer.concat(parts).length === 0);
        expect(pieces.take().equals(Buffer.concat(parts))).toBe(true);
        expect(pieces.isEmpty).toBe(true);
      }
    });

    it('that were taken stay as they were while others come', () => {
      const pieces = new Pieces();
      const taken = [1, 2, 3].map((fill) => {
        for (let count = 0; count < 10; count++) pieces.add(Buffer.alloc(10, fill));
        return pieces.take();
      });
      expect(taken.map((bytes) => new Set(bytes))).toEqual([new Set([1]), new Set([2]), new Set([3])]);
    });

    it('of one byte each take up little more than their length (T-157)', () => {
      const pieces = new Pieces();
      const before = held();
      for (let count = 0; count < 500_000; count++) pieces.add(Buffer.from('a'));
      expect(held() - before).toBeLessThan(10_000_000);
      expect(pieces.take()).toHaveLength(500_000);
    });
  });
});
