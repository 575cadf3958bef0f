import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { HeldBytes } from '../../../src/mcp/http/held-bytes.ts';
import { createPulse, NodeEventStream } from '../../../src/mcp/http/node-reply.ts';

const held = new HeldBytes({ perAccount: 4_000_000, total: 4_000_000, patienceSeconds: 10 });
let server: Server | undefined;
afterEach(() => server?.close());

async function openTo(use: (stream: NodeEventStream) => void): Promise<number> {
  const pulse = createPulse(20_000);
  server = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    use(new NodeEventStream(response, pulse, { held }));
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

test('what waits for a slow client is bounded: beyond it the client is cut off (T-143)', async () => {
  let stream: NodeEventStream | undefined;
  const port = await openTo((opened) => {
    stream = opened;
  });
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  socket.pause();
  for (let round = 0; round < 100 && !stream; round++) await sleep(10);
  let closed = 0;
  stream?.onClose(() => closed++);
  const line = JSON.stringify('x'.repeat(1_000_000));
  for (let count = 0; count < 40; count++) stream?.send(line);
  expect(stream?.isOpen).toBe(false);
  for (let round = 0; round < 100 && closed === 0; round++) await sleep(10);
  expect(closed).toBe(1);
  socket.destroy();
});

test('an event with a name has that name, and nothing comes after the end', async () => {
  const port = await openTo((stream) => {
    stream.send('/messages?sessionId=1', undefined, 'endpoint');
    stream.end();
    stream.send('"late"');
    stream.beat();
    stream.end();
  });
  const text = await (await fetch(`http://127.0.0.1:${port}/`)).text();
  expect(text).toBe(': open\n\nevent: endpoint\ndata: /messages?sessionId=1\n\n');
});
