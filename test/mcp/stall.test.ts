import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { cutOffWhenStalled } from '../../src/mcp/stall.ts';

/** A server that streams without end, a client that reads as told, and what the server produced. */
async function startStream(chunk: Buffer, pauseMs: number, stallMs: number) {
  const produced = { bytes: 0, ended: false };
  const server = createServer((_request, response) => {
    cutOffWhenStalled(response, stallMs);
    response.once('close', () => {
      produced.ended = true;
    });
    const source = async function* () {
      while (!produced.ended) {
        produced.bytes += chunk.length;
        yield chunk;
        await sleep(pauseMs);
      }
    };
    Readable.from(source()).pipe(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  onTestFinished(() => {
    socket.destroy();
    server.closeAllConnections();
    server.close();
  });
  return { socket, produced };
}

describe('a client', () => {
  it('that takes nothing is cut off, and what waits for it stays bounded (T-143)', async () => {
    const { socket, produced } = await startStream(Buffer.alloc(256 * 1024), 0, 50);
    socket.pause();
    for (let waited = 0; waited < 100 && !produced.ended; waited++) await sleep(50);
    expect(produced.ended).toBe(true);
    expect(produced.bytes).toBeLessThan(64 * 1024 * 1024);
  });

  it('that takes what there is, if only a little, stays (T-143)', async () => {
    const { socket, produced } = await startStream(Buffer.from('x'), 20, 30);
    socket.resume();
    await sleep(300);
    expect(produced.ended).toBe(false);
  });
});
