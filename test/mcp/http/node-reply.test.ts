import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { HeldBytes } from '../../../src/mcp/http/held-bytes.ts';
import { createPulse, NodeReply } from '../../../src/mcp/http/node-reply.ts';
import { createWriteBatcher, type WriteBatcher } from '../../../src/net/write-batcher.ts';

// Also the test of src/mcp/http/node-reply.ts and the contract src/mcp/http/exchange.ts.
let server: Server | undefined;
afterEach(() => server?.close());

async function ask(
  answer: (reply: NodeReply) => void,
  sendTogether: WriteBatcher = createWriteBatcher(),
): Promise<Response> {
  const pulse = createPulse(20_000);
  server = createServer((_request, response) => {
    response.setHeader('X-Before', 'kept');
    answer(new NodeReply(response, pulse, sendTogether, { held: new HeldBytes() }));
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
}

test('JSON goes out with its length and is not stored; headers set before stay', async () => {
  const response = await ask((reply) => reply.json(200, { ä: 1 }, { 'Mcp-Session-Id': 's' }));
  expect(await response.json()).toEqual({ ä: 1 });
  expect(response.headers.get('content-length')).toBe(String(Buffer.byteLength('{"ä":1}')));
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('mcp-session-id')).toBe('s');
  expect(response.headers.get('x-before')).toBe('kept');
});

test('an empty answer has a status and no body', async () => {
  const response = await ask((reply) => reply.empty(202));
  expect(response.status).toBe(202);
  expect(await response.text()).toBe('');
});

test('JSON that still has to leave is an answer: no other one comes in its place', async () => {
  const waiting: (() => void)[] = [];
  const [states, leave]: [boolean[], WriteBatcher] = [[], (send) => waiting.push(send)];
  const response = await ask((reply) => {
    reply.json(200, 1);
    states.push(reply.isBegun, reply.isClosed);
    setImmediate(() => waiting[0]?.());
  }, leave);
  expect([await response.json(), states]).toEqual([1, [true, true]]);
});

test('an answer without a body waits for nobody: what is on a stream comes behind it', async () => {
  const response = await ask(
    (reply) => reply.empty(202),
    () => undefined,
  );
  expect(response.status).toBe(202);
});

test('one message is one event, whatever its text holds (T-139)', async () => {
  const text = 'a\n\ndata: {"jsonrpc":"2.0"}\r\nevent: endpoint';
  const response = await ask((reply) => {
    const stream = reply.stream();
    stream.send(JSON.stringify({ text }), 's/1');
    stream.send('', 's/2');
    stream.retry(500);
    stream.end();
    stream.send('"late"');
  });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const frames = (await response.text()).split('\n\n').filter((frame) => frame !== '');
  expect(frames).toEqual([
    ': open',
    `event: message\nid: s/1\ndata: ${JSON.stringify({ text })}`,
    'id: s/2\ndata: ',
    'retry: 500',
  ]);
});

test('a request is answered once', async () => {
  let second: unknown;
  const response = await ask((reply) => {
    reply.json(200, 1);
    try {
      reply.json(200, 2);
    } catch (error) {
      second = error;
    }
  });
  expect(await response.json()).toBe(1);
  expect(second).toBeInstanceOf(Error);
});
