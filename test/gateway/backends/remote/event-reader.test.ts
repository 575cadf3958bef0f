import { describe, expect, it } from 'vitest';
import { EventReader } from '../../../../src/gateway/backends/remote/event-reader.ts';

/** Reads a stream in chunks of a size. */
function read(stream: string | Buffer, { size = 1 << 20, maxBytes = 1000 } = {}) {
  const bytes = Buffer.from(stream as string);
  const events: string[][] = [];
  const retries: number[] = [];
  let tooLong = 0;
  const reader = new EventReader(maxBytes, {
    event: ({ type, data }) => events.push([type, data.toString('utf8'), reader.lastEventId ?? '-']),
    retry: (waitMs) => retries.push(waitMs),
    tooLong: () => tooLong++,
  });
  for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
  return { events, retries, tooLong, lastEventId: reader.lastEventId };
}

const stream =
  '\u{feff}: hello\n\nevent: endpoint\ndata: /messages\n\nid: 1\ndata: {"a":\ndata:"ü🙂"}\n\nretry: 250\nid: 2\ndata\n\ndata: last\n\n';
const events = [
  ['endpoint', '/messages', '-'],
  ['message', '{"a":\n"ü🙂"}', '1'],
  ['message', '', '2'],
  ['message', 'last', '2'],
];

describe('an event stream', () => {
  it.each([1, 2, 3, 7, 1000])('is read in chunks of %i bytes, with lines that end in any way', (size) => {
    for (const ending of ['\n', '\r\n', '\r']) {
      const found = read(stream.replaceAll('\n', ending), { size });
      expect(found.events).toEqual(events);
      expect(found.retries).toEqual([250]);
      expect(found.tooLong).toBe(0);
    }
  });

  it('has an event only when it is complete, and its id only then, so that nothing is missed (B3-09)', () => {
    const found = read('id: 1\ndata: a\n\nid: 2\ndata: half');
    expect(found.events).toEqual([['message', 'a', '1']]);
    expect(found.lastEventId).toBe('1');
    expect(read('id: 3\n\n').lastEventId).toBe('3');
  });

  it('ignores ids and waits that are none', () => {
    const found = read(`id: a\0b\nretry: 1s\ndata: x\n\nid: ${'i'.repeat(1100)}\ndata: y\n\n`, {
      maxBytes: 5000,
    });
    expect(found.lastEventId).toBeUndefined();
    expect(found.retries).toEqual([]);
    expect(read('id: a\ndata: x\n\nid: \u0007\ndata: y\n\n').lastEventId).toBeUndefined();
    expect(read('id: ü\ndata: x\n\n').lastEventId).toBe(Buffer.from('ü').toString('latin1'));
  });

  it('is given up with an event that is too long, in one line, in many or in none that ends (T-157)', () => {
    for (const long of [`data: ${'x'.repeat(2000)}\n\n`, 'data: x\n'.repeat(300), 'x'.repeat(2000)])
      for (const size of [1, 64, 1 << 20]) {
        const found = read(`data: ok\n\n${long}data: after\n\n`, { size });
        expect(found.events).toEqual([['message', 'ok', '-']]);
        expect(found.tooLong).toBe(1);
      }
  });

  it('may be kept open by comments for ever', () => {
    const found = read(`${': still here\n\n'.repeat(500)}${':\n'.repeat(2000)}data: x\n\n`, { size: 10 });
    expect(found.events).toEqual([['message', 'x', '-']]);
  });
});
