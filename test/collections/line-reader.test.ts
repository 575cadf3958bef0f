import { describe, expect, it } from 'vitest';
import { LineReader } from '../../src/collections/line-reader.ts';

function setUp(maxBytes = 100) {
  const taken: string[] = [];
  const reader = new LineReader(maxBytes, {
    line: (bytes) => taken.push(new TextDecoder().decode(bytes)),
    tooLong: () => taken.push('(too long)'),
  });
  return { taken, reader, push: (text: string) => reader.push(Buffer.from(text)) };
}

describe('a reader of lines', () => {
  it('gives each line once its end has come', () => {
    const { taken, push } = setUp();
    push('one\ntwo\nth');
    expect(taken).toEqual(['one', 'two']);
    push('ree');
    push('\n\n');
    expect(taken).toEqual(['one', 'two', 'three', '']);
  });

  it('puts characters together that were split between chunks, byte by byte (B1-01, T-150)', () => {
    const { taken, reader } = setUp();
    for (const byte of Buffer.from('{"note":"Grüße 🗝"}\n')) reader.push(Buffer.from([byte]));
    expect(taken).toEqual(['{"note":"Grüße 🗝"}']);
  });

  it('gives a line of the allowed length, and skips a longer one to its end (T-150)', () => {
    const { taken, push } = setUp(10);
    push(`${'a'.repeat(10)}\n`);
    push(`${'b'.repeat(11)}`);
    expect(taken).toEqual(['a'.repeat(10), '(too long)']);
    push('more of it');
    push(' and its end\nnext\n');
    expect(taken).toEqual(['a'.repeat(10), '(too long)', 'next']);
    push(`${'c'.repeat(11)}\nafter\n`);
    expect(taken.slice(3)).toEqual(['(too long)', 'after']);
  });

  it('holds no more than a line of the allowed length, however long the line (T-150)', () => {
    const { taken, reader } = setUp(4 * 1024 * 1024);
    const chunk = Buffer.alloc(1024 * 1024, 'x');
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    for (let megabytes = 0; megabytes < 100; megabytes++) {
      reader.push(chunk);
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }
    expect(most).toBeLessThan(24 * 1024 * 1024);
    reader.push(Buffer.from('\nshort\n'));
    expect(taken).toEqual(['(too long)', 'short']);
  });

  it('gives lines that the next ones do not overwrite', () => {
    const lines: Uint8Array[] = [];
    const reader = new LineReader(100, { line: (bytes) => lines.push(bytes), tooLong: () => undefined });
    reader.push(Buffer.from('one\ntwo\n'));
    expect(lines.map((line) => Buffer.from(line).toString())).toEqual(['one', 'two']);
  });
});
