import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { HeldBytes, type LostBytes } from '../../../src/mcp/http/held-bytes.ts';
import { HeldWriter, textLength } from '../../../src/mcp/http/node-reply.ts';

const large = 'x'.repeat(20_000_000);

/** A response whose client reads nothing yet. */
async function open(total = 100_000_000) {
  const lost: LostBytes[] = [];
  const held = new HeldBytes({ perAccount: total, total, patienceSeconds: 10 }, (bytes) => lost.push(bytes));
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const asked = new Promise<ServerResponse>((resolve) => {
    server.once('request', (_request, response) => resolve(response));
  });
  const client: Socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.pause().on('error', () => undefined);
  client.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  return { held, lost, client, writer: new HeldWriter(await asked, { held }) };
}

test('a text that the client has not taken is counted, and comes whole once the client reads (T-205)', async () => {
  const { held, lost, client, writer } = await open();
  writer.write('begun ');
  writer.end(large);
  expect(held.bytes).toBe(large.length);
  let taken = 0;
  client.on('data', (chunk: Buffer) => {
    taken += chunk.toString('latin1').split('x').length - 1;
  });
  await new Promise<void>((resolve) => client.once('end', resolve).resume());
  expect(taken).toBe(large.length);
  await vi.waitFor(() => expect(held.bytes).toBe(0));
  expect(lost).toEqual([]);
});

test('a client that leaves before it has taken its answer counts no more, and the loss is noted (T-205)', async () => {
  const { held, lost, client, writer } = await open();
  writer.end(large);
  client.destroy();
  await vi.waitFor(() => expect(held.bytes).toBe(0));
  expect(lost).toMatchObject([{ loss: 'left' }]);
});

test('without room, what can be refused is refused before it is written, and a write cuts the client off (T-205)', async () => {
  const { held, lost, client, writer } = await open(21_000_000);
  writer.write(large);
  expect(writer.takes(large)).toBe(false);
  expect(writer.takesMessage({ result: large })).toBe(false);
  expect(writer.park({ result: large })).toBeUndefined();
  expect(writer.takes('small') && writer.takesMessage({ result: 'small' })).toBe(true);
  const closed = new Promise<void>((resolve) => client.once('close', () => resolve()));
  writer.write(large);
  expect(held.bytes).toBe(0);
  client.resume();
  await closed;
  expect(lost.map(({ loss }) => loss)).toEqual(['no_room', 'no_room', 'no_room', 'no_room']);
});

test('the length of a message is that of its texts, wherever they stand, and a large one costs little (T-205)', () => {
  expect(textLength({ a: ['four', { b: 'five!' }], c: 1, d: null })).toBe(9);
  const values = Array.from({ length: 1_000_000 }, () => 'x');
  expect(textLength(values)).toBeLessThanOrEqual(10_000);
});

test('many texts for a client that reads nothing are counted together, and end its connection at the budget (T-143, T-205)', async () => {
  const { held, lost, client, writer } = await open(10_000_000);
  const text = 'x'.repeat(100_000);
  let written = 0;
  for (; written < 300 && writer.isOpen; written++) {
    writer.write(text);
    await new Promise((resolve) => setImmediate(resolve));
  }
  // Up to ten megabytes are held here, and some in sockets.
  expect(written).toBeLessThan(200);
  expect(lost.map(({ loss }) => loss)).toEqual(['no_room']);
  expect(held.bytes).toBe(0);
  client.destroy();
});
