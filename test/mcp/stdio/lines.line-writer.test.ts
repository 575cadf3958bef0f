import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { LineWriter } from '../../../src/mcp/stdio/lines.ts';

describe('a writer of lines', () => {
  it('writes each message as one line, whatever its texts hold (B1-03)', async () => {
    const stdout = new PassThrough();
    const writer = new LineWriter(stdout, () => undefined);
    const message = { text: 'a\nb\r\nc\u2028d' };
    writer.write(message);
    await writer.flush();
    const written = String(stdout.read());
    expect(written.match(/\n/g)).toHaveLength(1);
    expect(JSON.parse(written)).toEqual(message);
  });

  it('says once that its reader is gone, and writes no more (T-150)', async () => {
    let gone = 0;
    const stdout = new Writable({
      write: (_chunk, _encoding, done) => done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })),
    });
    const writer = new LineWriter(stdout, () => gone++);
    writer.write({ a: 1 });
    await new Promise(setImmediate);
    writer.write({ a: 2 });
    await writer.flush();
    expect(gone).toBe(1);
  });

  it('is full while its reader takes nothing', async () => {
    const stdout = new PassThrough({ highWaterMark: 10 });
    const writer = new LineWriter(stdout, () => undefined);
    expect(writer.isFull).toBe(false);
    writer.write('x'.repeat(100));
    expect(writer.isFull).toBe(true);
    const drained = new Promise<void>((resolve) => writer.onDrain(resolve));
    stdout.resume();
    await drained;
    expect(writer.isFull).toBe(false);
  });

  it('waits a second for a reader that takes nothing, and no longer (T-150)', async () => {
    const stdout = new Writable({ write: () => undefined });
    const writer = new LineWriter(stdout, () => undefined);
    writer.write({ a: 1 });
    const begun = performance.now();
    await writer.flush();
    expect(performance.now() - begun).toBeLessThan(1500);
  });
});
