import { describe, expect, it } from 'vitest';
import { firstByteWaitMs } from '../../../src/doctor/proxy/event-stream.ts';
import { openMcp, seen } from './open-server.ts';

describe('the stream of a server', () => {
  it('is opened with the headers of the session, and left when the examination is over', async () => {
    let closed = false;
    const found = await seen(
      'PROXY-BUFFERING',
      openMcp((response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': open\n\n');
        response.once('close', () => {
          closed = true;
        });
      }),
    );
    expect(found.verdict).toBe('pass');
    await expect.poll(() => closed).toBe(true);
  });

  it('that begins without a byte may have nothing to say', async () => {
    const silent = openMcp((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    });
    const found = await seen('PROXY-BUFFERING', silent);
    expect(found).toMatchObject({
      verdict: 'unknown',
      saw: expect.stringContaining(`${firstByteWaitMs / 1000}`),
    });
  });
});
