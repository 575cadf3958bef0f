import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import type { EventStream } from '../../../src/mcp/http/exchange.ts';
import { HeldBytes } from '../../../src/mcp/http/held-bytes.ts';
import { createPulse, NodeReply } from '../../../src/mcp/http/node-reply.ts';
import { createWriteBatcher } from '../../../src/net/write-batcher.ts';

let server: Server | undefined;
afterEach(() => server?.close());

async function listen(answer: (reply: NodeReply) => void, periodMs: number): Promise<number> {
  const pulse = createPulse(periodMs);
  const sendTogether = createWriteBatcher();
  server = createServer((_request, response) =>
    answer(new NodeReply(response, pulse, sendTogether, { held: new HeldBytes() })),
  );
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

test('an open stream gets a comment at once and one a period', async () => {
  const port = await listen((reply) => reply.stream(), 60);
  const aborter = new AbortController();
  const response = await fetch(`http://127.0.0.1:${port}/`, { signal: aborter.signal });
  let text = '';
  const reading = (async () => {
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>)
      text += Buffer.from(chunk).toString();
  })().catch(() => undefined);
  await pause(400);
  aborter.abort();
  await reading;
  expect(text.startsWith(': open\n\n')).toBe(true);
  expect(text.split(': keep-alive\n\n').length - 1).toBeGreaterThanOrEqual(3);
  expect(response.headers.get('x-accel-buffering')).toBe('no');
});

test('a client that takes nothing is cut off, and what waits for it stays bounded (T-143)', async () => {
  let stream: EventStream | undefined;
  const port = await listen((reply) => {
    stream = reply.stream();
  }, 100);
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  socket.pause();
  for (let round = 0; round < 50 && !stream; round++) await pause(10);
  const line = JSON.stringify('x'.repeat(200_000));
  for (let round = 0; round < 200 && stream?.isOpen; round++) {
    stream.send(line);
    await pause(5);
  }
  expect(stream?.isOpen).toBe(false);
  socket.destroy();
});

test('an answer that a client does not take is cut off as well (T-143)', async () => {
  let reply: NodeReply | undefined;
  const port = await listen((begun) => {
    reply = begun;
    begun.json(200, 'x'.repeat(20_000_000));
  }, 60);
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  socket.pause();
  let closed = false;
  for (let round = 0; round < 100 && !closed; round++) {
    await pause(20);
    reply?.onClose(() => {
      closed = true;
    });
  }
  expect(closed).toBe(true);
  socket.destroy();
});
