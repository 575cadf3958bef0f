import { describe, expect, it } from 'vitest';
import type { BodyTaker, WireAnswer } from '../../../../src/gateway/backends/remote/answer-body.ts';
import {
  readEventStream,
  type StreamPosition,
} from '../../../../src/gateway/backends/remote/event-stream.ts';
import { HeldBytes } from '../../../../src/mcp/http/held-bytes.ts';

/** Reads a stream in chunks of a size. */
function read(stream: string | Buffer, { size = 1 << 20, maxBytes = 1000 } = {}) {
  const bytes = Buffer.from(stream as string);
  const events: string[][] = [];
  const ends: string[] = [];
  const position: StreamPosition = {};
  let taker: BodyTaker | undefined;
  const answer: WireAnswer = {
    status: 200,
    headers: new Map(),
    read: (given) => {
      taker = given;
    },
    pause: () => undefined,
    stopReading: () => () => undefined,
    drop: () => undefined,
  };
  const holding = { held: new HeldBytes(), account: 'a' };
  readEventStream(answer, { maxEventBytes: maxBytes, holding }, position, {
    event: ({ type, data }) => events.push([type, data.toString('utf8'), position.lastEventId ?? '-']),
    ended: (because) => ends.push(because),
  });
  for (let at = 0; at < bytes.length; at += size) taker?.data(bytes.subarray(at, at + size));
  return { events, ends, ...position };
}

const stream =
  '\u{feff}: hello\n\nevent: endpoint\ndata: /messages\n\nid: 1\ndata: {"a":\ndata:"ü🙂"}\n\nretry: 250\nid: 2\ndata\n\ndata: last\n\n';
const events = [
  ['endpoint', '/messages', '-'],
  ['message', '{"a":\n"ü🙂"}', '1'],
  ['message', 'last', '2'],
];

describe('an event stream', () => {
  it.each([1, 2, 3, 7, 1000])('is read in chunks of %i bytes, with lines that end in any way', (size) => {
    for (const ending of ['\n', '\r\n']) {
      const found = read(stream.replaceAll('\n', ending), { size });
      expect(found.events).toEqual(events);
      expect(found.retryMs).toBe(250);
      expect(found.ends).toEqual([]);
    }
  });

  it('has an event only when it is complete, and its id only then, so that nothing is missed (B3-09)', () => {
    const found = read('id: 1\ndata: a\n\nid: 2\ndata: half');
    expect(found.events).toEqual([['message', 'a', '1']]);
    expect(found.lastEventId).toBe('1');
    expect(read('id: 3\ndata:\n\n').lastEventId).toBe('3');
  });

  it('ignores ids and waits that are none', () => {
    const found = read(`id: a\0b\nretry: 1s\ndata: x\n\nid: ${'i'.repeat(1100)}\ndata: y\n\n`, {
      maxBytes: 5000,
    });
    expect(found.lastEventId).toBeUndefined();
    expect(found.retryMs).toBeUndefined();
    expect(read('id: a\ndata: x\n\nid: \u0007\ndata: y\n\n').lastEventId).toBeUndefined();
    expect(read('id: ü\ndata: x\n\n').lastEventId).toBe(Buffer.from('ü').toString('latin1'));
  });

  it('is given up with an event that is too long, in one line, in many or in none that ends (T-157)', () => {
    for (const long of [`data: ${'x'.repeat(2000)}\n\n`, 'data: x\n'.repeat(600), 'x'.repeat(2000)])
      for (const size of [1, 64, 1024]) {
        const found = read(`data: ok\n\n${long}data: after\n\n`, { size });
        expect(found.events).toEqual([['message', 'ok', '-']]);
        expect(found.ends).toEqual(['backend_answer_too_large']);
      }
  });

  it('may be kept open by comments for ever', () => {
    const found = read(`${': still here\n\n'.repeat(500)}${':\n'.repeat(2000)}data: x\n\n`, { size: 10 });
    expect(found.events).toEqual([['message', 'x', '-']]);
  });
});
