import { describe, expect, it } from 'vitest';
import { boundedBody, createEventMeter } from '../../../src/client/transports/answer-limits.ts';

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
