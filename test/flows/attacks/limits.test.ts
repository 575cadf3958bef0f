import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { modernRequest } from '../../mcp/support/gate.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { patience } from '../../support/patience.ts';
import { countDatabaseBytes } from '../../support/test-storage.ts';
import {
  codeOf,
  enter,
  failures,
  initialize,
  openDoor,
  openSession,
  type Principal,
  send,
} from './support/doors.ts';
import { type ServedProcess, serveProcess } from './support/served-process.ts';
import { type OpenStream, openStream } from './support/stream.ts';
import { createVictim } from './support/victim.ts';

const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const megabyte = 1_000_000;

/** Opens a connection and writes to it; what comes back is read unless it is paused. */
function dial(origin: string, text: string): Socket {
  const { port, hostname } = new URL(origin);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined).resume();
  socket.write(text);
  return socket;
}

describe('a process under a flood', () => {
  let served: ServedProcess;
  let ann: Principal;
  beforeAll(async () => {
    served = await serveProcess();
    ann = await enter(served);
  });
  afterAll(async () => {
    expect(failures(served.log())).toEqual([]);
    await served.stop();
  });
  const calm = async (): Promise<void> => {
    const { ms, status } = await send(served, '/healthz', { method: 'GET' });
    expect(status).toBe(200);
    expect(ms).toBeLessThan(patience(1000));
  };

  it('reads few large bodies of a principal at once, however many are begun and never ended (T-134, T-143)', async () => {
    const before = served.residentBytes();
    const head = `POST /rest HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${ann.rest}\r\nContent-Type: application/json\r\n`;
    const sockets = Array.from({ length: 100 }, (_, at) =>
      at % 2 === 0
        ? dial(served.listensAt, `${head}Content-Length: 4000000\r\n\r\n${'x'.repeat(3_900_000)}`)
        : dial(
            served.listensAt,
            `${head}Transfer-Encoding: chunked\r\n\r\n3b8260\r\n${'x'.repeat(3_900_000)}`,
          ),
    );
    await sleep(2500);
    expect(served.residentBytes() - before).toBeLessThan(150 * megabyte);
    const small = await send(served, '/rest', {
      headers: { ...json, authorization: `Bearer ${ann.rest}` },
      body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    });
    expect(small.status).toBe(200);
    await calm();
    for (const socket of sockets) socket.destroy();
  });

  it('holds so many sessions of a principal, however many it begins and whatever it says of itself (T-144)', async () => {
    const headers = { ...json, authorization: `Bearer ${ann.mcp}` };
    const wordy = initialize().replace('"attacker"', `"${'x'.repeat(60_000)}"`);
    const large = initialize().replace('"attacker"', `"${'x'.repeat(100_000)}"`);
    expect(codeOf(await send(served, '/mcp', { headers, body: large }))).toBe(-32602);
    const begin = async (count: number): Promise<void> => {
      for (let at = 0; at < count; at++) {
        const { status } = await send(served, '/mcp', { headers, body: wordy });
        if (status !== 200 && status !== 429) throw new Error(`initialize: ${status}`);
      }
    };
    const many = Number(process.env.ATTACK_SESSIONS ?? 400);
    await Promise.all(Array.from({ length: 8 }, () => begin(many / 16)));
    const [memory, database] = [served.residentBytes(), await served.databaseBytes()];
    await Promise.all(Array.from({ length: 8 }, () => begin(many / 16)));
    expect(served.residentBytes() - memory).toBeLessThan(80 * megabyte);
    expect((await served.databaseBytes()) - database).toBeLessThan(20 * megabyte);
    await calm();
  });

  it('begins nothing for who is not known, and lets go of what is not spoken on (T-144, T-143)', async () => {
    const before = served.residentBytes();
    for (let at = 0; at < 500; at++)
      expect((await send(served, '/mcp', { headers: json, body: initialize() })).status).toBe(401);
    const sockets = Array.from({ length: 1000 }, (_, at) =>
      dial(served.listensAt, 'GET /sse HTTP/1.1\r\nHost: localhost\r\nX: '.slice(0, at % 40)),
    );
    await sleep(500);
    await calm();
    expect(served.residentBytes() - before).toBeLessThan(80 * megabyte);
    for (const socket of sockets) socket.destroy();
    await calm();
  });

  it('survives connections that break off at each byte of a request and of a stream (T-146)', async () => {
    const headers = `Host: localhost\r\nAuthorization: Bearer ${ann.mcp}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n`;
    const post = (path: string, body: string): string =>
      `POST ${path} HTTP/1.1\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`;
    const whole = [
      post('/mcp', initialize()),
      `GET /sse HTTP/1.1\r\n${headers.replace(ann.mcp, ann.sse)}\r\n`,
      post('/rest', '[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]').replace(ann.mcp, ann.rest),
    ];
    for (const text of whole) {
      for (let from = 0; from <= text.length; from += 40) {
        const cut = Array.from({ length: 40 }, (_, at) => dial(served.listensAt, text.slice(0, from + at)));
        await sleep(5);
        for (const [at, socket] of cut.entries()) at % 2 ? socket.destroy() : socket.resetAndDestroy();
      }
    }
    await calm();
    // Streams that broke off are gone: as many as are allowed can be opened anew.
    await expect.poll(async () => await openEnough('/sse', ann.sse), { timeout: 5000 }).toBe(true);
  });
  const openEnough = async (path: string, token: string): Promise<boolean> => {
    const headers = { accept: 'text/event-stream', authorization: `Bearer ${token}` };
    const streams = await Promise.all(
      Array.from({ length: 64 }, () => openStream(served.listensAt, path, headers)),
    );
    for (const stream of streams) stream.leave();
    await sleep(50);
    return streams.every(({ status }) => status === 200);
  };

  it('opens so many streams of a principal, and no more: 429 (T-145)', async () => {
    const headers = { authorization: `Bearer ${ann.sse}`, accept: 'text/event-stream' };
    const streams: OpenStream[] = [];
    for (let at = 0; at < 80; at++) streams.push(await openStream(served.listensAt, '/sse', headers));
    expect(streams.filter(({ status }) => status === 200).length).toBe(64);
    expect(streams.filter(({ status }) => status === 429).length).toBe(16);
    for (const stream of streams) stream.leave();

    const session = await openSession(served, ann.mcp);
    const own = { ...headers, authorization: `Bearer ${ann.mcp}`, 'mcp-session-id': session };
    const gets: OpenStream[] = [];
    for (let at = 0; at < 100; at++) gets.push(await openStream(served.listensAt, '/mcp', own));
    await Promise.all(gets.slice(0, -1).map(({ ended }) => ended));
    gets.at(-1)?.leave();
    await calm();
  });
});

describe('a server with tools', () => {
  const { server, seen } = createVictim('each');
  let gatehouse: RunningGatehouse;
  let ann: Principal;
  beforeAll(async () => {
    gatehouse = await startGatehouse({
      server,
      mcp: { maxCallsPerPrincipal: 20 },
      limits: { heldBytes: { perAccount: 16 * megabyte } },
    });
    ann = await enter(gatehouse);
  });
  afterAll(async () => {
    expect(failures(gatehouse.log)).toEqual([]);
    await gatehouse.stop();
  });
  const databaseBytes = () => countDatabaseBytes(gatehouse.folder);

  it('keeps little of calls whose ids are long and which are cancelled (T-142, T-144)', async () => {
    const door = await openDoor(gatehouse, 'mcp 2025', ann);
    const before = await databaseBytes();
    const calls = Array.from({ length: 10 }, async (_, at) => {
      const id = `${at}${'x'.repeat(megabyte)}`;
      const { body } = door.write(
        'tools/call',
        { name: 'wait', arguments: { ms: 60_000, label: `long ${at}` } },
        id,
      );
      const stream = await openStream(gatehouse.listensAt, '/mcp', door.headers, { method: 'POST', body });
      await door.post(
        JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } }),
      );
      await stream.ended;
    });
    await Promise.all(calls);
    expect((await databaseBytes()) - before).toBeLessThan(4 * megabyte);
  });

  it('is asked for many long subscriptions, and stays quick (T-144, T-145)', async () => {
    const door = await openDoor(gatehouse, 'mcp 2025', ann);
    for (let at = 0; at < 150; at++) {
      const { body } = door.write('resources/subscribe', { uri: `test://${at}/${'y'.repeat(8000)}` }, at);
      expect((await door.post(body)).ms).toBeLessThan(patience(500));
    }
    const listen = (notifications: object, id: unknown = 1) => {
      const { headers = {}, json: message } = modernRequest(
        'subscriptions/listen',
        { notifications },
        id as number,
      );
      const authorization = `Bearer ${ann.mcp}`;
      return openStream(
        gatehouse.listensAt,
        '/mcp',
        { ...json, authorization, ...headers },
        { method: 'POST', body: JSON.stringify(message) },
      );
    };
    const uris = Array.from({ length: 900 }, (_, at) => `test://${at}/${'z'.repeat(4000)}`);
    const tooLong = await listen({ resourceSubscriptions: uris });
    await tooLong.ended;
    expect(codeOf({ body: tooLong.text() })).toBe(-32602);
    expect((await listen({ toolsListChanged: true }, 'x'.repeat(megabyte))).status).toBe(400);
    const streams: OpenStream[] = [];
    for (let at = 0; at < 70; at++) streams.push(await listen({ toolsListChanged: true }, at));
    expect(streams.filter(({ status }) => status === 200).length).toBe(64);
    expect(streams.filter(({ status }) => status === 429).length).toBe(6);
    for (const stream of streams) stream.leave();
  });

  it.each(['mcp 2025', 'mcp 2026', 'messages'] as const)(
    'cuts off who takes nothing of a flood; others are served meanwhile: %s (T-143)',
    async (name) => {
      const door = await openDoor(gatehouse, name, ann);
      const other = await openDoor(gatehouse, 'rest', ann);
      const written = door.write(
        'tools/call',
        { name: 'flood', arguments: { count: 600, bytes: 100_000 } },
        'flood',
      );
      const message = JSON.parse(written.body) as { params: { _meta?: object } };
      message.params._meta = { ...message.params._meta, 'io.modelcontextprotocol/logLevel': 'debug' };
      const body = JSON.stringify(message);
      const fields = Object.entries({
        host: 'localhost',
        ...door.headers,
        ...written.headers,
        'content-length': Buffer.byteLength(body),
      }).map(([field, value]) => `${field}: ${value}\r\n`);
      let slow: Socket;
      if (name === 'messages') {
        slow = dial(
          gatehouse.listensAt,
          `GET /sse HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${ann.sse}\r\nAccept: text/event-stream\r\n\r\n`,
        );
        const path = await new Promise<string>((resolve) =>
          slow.on(
            'data',
            (chunk) =>
              /data: (\S+)\n/.exec(String(chunk))?.[1] &&
              resolve(/data: (\S+)\n/.exec(String(chunk))?.[1] ?? ''),
          ),
        );
        slow.pause();
        await send(gatehouse, path, { headers: door.headers, body: initialize() });
        await send(gatehouse, path, { headers: door.headers, body });
      } else {
        slow = dial(gatehouse.listensAt, `POST /mcp HTTP/1.1\r\n${fields.join('')}\r\n${body}`);
        slow.pause();
      }
      const before = process.memoryUsage().rss;
      const logged = gatehouse.log.length;
      for (let at = 0; at < 20; at++) {
        expect((await other.post(other.write('ping').body)).ms).toBeLessThan(patience(1000));
        await sleep(50);
      }
      expect(process.memoryUsage().rss - before).toBeLessThan(150 * megabyte);
      await vi.waitFor(
        () => expect(gatehouse.log.slice(logged).join('')).toContain('"loss":"no_room"'),
        60_000,
      );
      const closed = new Promise((resolve) => slow.once('close', resolve));
      slow.resume();
      await closed;
      expect(slow.bytesRead).toBeLessThan(40 * megabyte);
      door.close();
    },
  );

  it('runs so many calls of a principal at once, over all doors (T-144)', async () => {
    const rest = await openDoor(gatehouse, 'rest', ann);
    const { body, headers } = rest.write('tools/call', {
      name: 'wait',
      arguments: { ms: 1500, label: 'many' },
    });
    const answers = await Promise.all(Array.from({ length: 30 }, () => rest.post(body, headers)));
    const refused = answers.filter(({ status }) => status === 429).length;
    // A call of the test before may still be counted.
    expect([10, 11]).toContain(refused);
    expect(seen.finished.filter((label) => label === 'many').length).toBe(30 - refused);
  });
});
