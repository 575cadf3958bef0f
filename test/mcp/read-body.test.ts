import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readBody } from '../../src/mcp/read-body.ts';

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
