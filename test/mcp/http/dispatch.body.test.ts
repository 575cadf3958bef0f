import { once } from 'node:events';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readBody, takeWholeBody } from '../../../src/mcp/http/dispatch.ts';

describe('a body', () => {
  it('is read whole up to the limit', async () => {
    expect(await readBody(Readable.from([Buffer.from('ab'), Buffer.from('cd')]), undefined, 4)).toEqual(
      Buffer.from('abcd'),
    );
  });

  it('is refused as soon as it exceeds the limit, however long it goes on (T-134)', async () => {
    let produced = 0;
    const endless = Readable.from(
      (function* () {
        for (;;) {
          produced += 1000;
          yield Buffer.alloc(1000, 0x20);
        }
      })(),
    );
    expect(await readBody(endless, undefined, 10_000)).toMatchObject({ reason: 'body_too_large' });
    expect(produced).toBeLessThan(100_000);
    endless.destroy();
  });

  it('whose sender has gone before it is read was cut off', async () => {
    const gone = Readable.from([Buffer.from('ab')]);
    gone.destroy();
    expect(await readBody(gone, undefined, 10)).toMatchObject({ reason: 'body_cut_off' });
  });

  it('that ends before its announced length was cut off', async () => {
    expect(await readBody(Readable.from([Buffer.from('ab')]), '4', 10)).toMatchObject({
      reason: 'body_cut_off',
    });
  });
});

/** A body of which these pieces have come, and more may. */
function arrived(...pieces: string[]): Readable {
  const body = new Readable({ read: () => undefined });
  for (const piece of pieces) body.push(Buffer.from(piece));
  return body;
}

describe('a body that has come whole', () => {
  it.each([[['abcd']], [['ab', 'cd']]])('is taken as it stands, and its end is read (%o)', async (pieces) => {
    const body = arrived(...pieces);
    expect(takeWholeBody(body, '4', 4)).toEqual(Buffer.from('abcd'));
    body.push(null);
    await once(body, 'end');
  });

  it.each([
    ['has not all come', () => arrived('abc'), '4', 10],
    ['does not say how long it is', () => arrived('abcd'), undefined, 10],
    ['says something else', () => arrived('abcd'), '4x', 10],
    ['is longer than it says', () => arrived('abcde'), '4', 10],
    ['is too large (T-134)', () => arrived('abcd'), '4', 3],
    ['is empty', () => arrived(), '0', 10],
    ['is being read', () => arrived('abcd').resume(), '4', 10],
    ['has lost its sender', () => arrived('abcd').destroy(), '4', 10],
  ])('is another one where it %s', (_why, come, length, maxBytes) => {
    const body = come();
    const held = body.readableLength;
    expect(takeWholeBody(body, length, maxBytes)).toBeUndefined();
    expect(body.readableLength).toBe(held);
  });
});
