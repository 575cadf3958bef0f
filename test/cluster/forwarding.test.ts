import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestListener,
  request,
  type ServerResponse,
} from 'node:http';
import {
  type ClientHttp2Stream,
  connect as connectHttp2,
  constants,
  createServer as createHttp2Server,
  type IncomingHttpHeaders,
} from 'node:http2';
import { type AddressInfo, connect as connectPlain } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { deriveNodeKey, forwardSessions, type NodePort, openNodePort } from '../../src/cluster/forwarding.ts';
import type { ClusterNode } from '../../src/cluster/node.ts';
import { startTcpRelay } from '../flows/cluster/support/partition.ts';
import { settled } from '../storage/contract/nodes.ts';

const key = deriveNodeKey('a key that both have');

/** @param idle the sessions that are not in use at the node */
async function openPort(listener: RequestListener, idle: readonly string[] = []): Promise<NodePort> {
  const nodePort = await openNodePort({ host: '127.0.0.1', port: 0, key });
  nodePort.serve(
    listener,
    (id) => id === 'other',
    async (session) => idle.includes(session),
  );
  onTestFinished(() => nodePort.close());
  return nodePort;
}

/** A public port that forwards requests with a session to a node at a port. @param create creates its server */
async function startPublic(to: number, more: Partial<ClusterNode> = {}, create = createServer) {
  const warnings: unknown[] = [];
  const forgotten: string[] = [];
  const owner = { id: 'other', address: `127.0.0.1:${to}`, version: '1', startedAt: 1, ...settled };
  const node = {
    isCurrent: () => true,
    ownerOf: async (session: string) => (session === 'elsewhere' ? owner : undefined),
    forgetOwner: (session: string) => void forgotten.push(session),
    find: async () => owner,
    listOthers: async () => [owner],
    ...more,
  } as ClusterNode;
  const forwarding = forwardSessions({
    ...{ node, key },
    isForwarded: ({ headers }) => headers['x-test-forwarded'] !== undefined,
    sessionOf: ({ headers }) => {
      const key = headers['mcp-session-id'];
      return typeof key === 'string' ? { key } : undefined;
    },
    findClientAddress: () => '203.0.113.7',
    logger: { warn: (...line: unknown[]) => void warnings.push(line) },
  });
  const server = create(
    forwarding.wrap(async (incoming, response) => {
      const to = incoming.headers['x-test-to'];
      if (to === undefined) response.end('served here');
      else {
        const isRead = incoming.headers['x-test-read'] !== undefined;
        const body = isRead ? Buffer.from(await textOf(incoming)) : undefined;
        await forwarding.forwardJudged(String(to), incoming, response, body);
      }
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections?.();
    forwarding.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, warnings, forgotten, forwarding };
}

const elsewhere = { authorization: 'Bearer t', 'mcp-session-id': 'elsewhere' };

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}

describe('a request', () => {
  it('for a session of another node goes there whole, and its response comes back whole', async () => {
    const seen: unknown[] = [];
    const other = await openPort(async (incoming, response) => {
      const { method, url, headers } = incoming;
      const { host, authorization, 'x-custom': custom } = headers;
      const from = other.clientAddressOf(incoming);
      seen.push({ method, url, host, authorization, custom, from, length: (await textOf(incoming)).length });
      response.writeHead(418, { 'X-One': ['a', 'b'], 'Mcp-Session-Id': 'elsewhere' }).end('served there');
    });
    const { url } = await startPublic(other.port);
    const body = 'x'.repeat(100_000);
    const response = await fetch(`${url}/notes/mcp?a=1`, {
      method: 'POST',
      headers: {
        ...elsewhere,
        authorization: 'Bearer t',
        'x-custom': 'c',
        'x-gatehouse-client-address': '10.9.9.9',
      },
      body,
    });
    expect([response.status, await response.text()]).toEqual([418, 'served there']);
    expect(response.headers.get('x-one')).toBe('a, b');
    expect(seen).toEqual([
      {
        ...{ method: 'POST', url: '/notes/mcp?a=1', host: new URL(url).host, authorization: 'Bearer t' },
        ...{ custom: 'c', from: '203.0.113.7', length: body.length },
      },
    ]);
  });

  it('that announces a body and waits is answered before it sends one', async () => {
    const other = await openPort((_incoming, response) => {
      response.writeHead(413, { Connection: 'close' }).end('too large');
    });
    const { url } = await startPublic(other.port);
    const headers = { ...elsewhere, 'content-length': '5000000' };
    const asked = request(url, { method: 'POST', headers });
    asked.flushHeaders();
    const response = await new Promise<IncomingMessage>((resolve) => asked.once('response', resolve));
    expect([response.statusCode, await textOf(response)]).toEqual([413, 'too large']);
    asked.destroy();
  });

  it('is answered also if the other node does not read its body, and closes the connection', async () => {
    const other = await openPort((_incoming, response) => {
      response.writeHead(413, { Connection: 'close' }).end('too large');
    });
    const { url } = await startPublic(other.port);
    const response = await fetch(url, {
      method: 'POST',
      headers: elsewhere,
      body: 'x'.repeat(5_000_000),
    });
    expect([response.status, await response.text()]).toEqual([413, 'too large']);
  });

  it('whose connection breaks at the other node may have taken effect: 502 without Retry-After, but 503 if that node has left', async () => {
    const other = await openPort((incoming) => void incoming.socket.destroy());
    const { url } = await startPublic(other.port);
    const { url: afterwards } = await startPublic(other.port, { listOthers: async () => [] });
    for (const [to, method, status, retryAfter] of [
      [url, 'POST', 502, null],
      [url, 'GET', 503, '1'],
      [afterwards, 'POST', 503, '1'],
    ] as const) {
      const response = await fetch(to, { method, headers: elsewhere });
      expect([response.status, response.headers.get('retry-after')]).toEqual([status, retryAfter]);
    }
  });

  it('for no session, or one of nobody else, is served here, and the address that it claims to be forwarded for does not count', async () => {
    const other = await openPort((_request, response) => response.end('served there'));
    const { url } = await startPublic(other.port);
    expect(await (await fetch(url)).text()).toBe('served here');
    expect(
      await (await fetch(url, { headers: { authorization: 'Bearer t', 'mcp-session-id': 'mine' } })).text(),
    ).toBe('served here');
    const plain = { headers: { 'x-gatehouse-client-address': '10.9.9.9' } } as unknown as IncomingMessage;
    expect(other.clientAddressOf(plain)).toBeUndefined();
  });

  it('is forwarded also if hundreds come at once, each for a session of its own', async () => {
    const other = await openPort((_request, response) => response.end('served there'));
    const owner = {
      ...{ id: 'other', address: `127.0.0.1:${other.port}`, version: '1', startedAt: 1 },
      ...settled,
    };
    const ownerOf = async () => {
      await sleep(20);
      return owner;
    };
    const { url } = await startPublic(other.port, { ownerOf });
    const texts = Array.from({ length: 300 }, async (_, at) =>
      (
        await fetch(url, { headers: { authorization: 'Bearer t', 'mcp-session-id': `session ${at}` } })
      ).text(),
    );
    expect(new Set(await Promise.all(texts))).toEqual(new Set(['served there']));
  });

  it('streams its events as they come, and ends at the other node when the client is gone', async () => {
    let goneAt = 0;
    const other = await openPort((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write('data: first\n\n');
      response.on('close', () => {
        goneAt = performance.now();
      });
    });
    const { url } = await startPublic(other.port);
    const aborting = new AbortController();
    const response = await fetch(url, { headers: elsewhere, signal: aborting.signal });
    const reader = response.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? '').toString()).toBe('data: first\n\n');
    expect(goneAt).toBe(0);
    aborting.abort();
    await expect.poll(() => goneAt, { timeout: 2_000 }).toBeGreaterThan(0);
  });

  it('for a node that cannot be reached is answered with 503, and its owner is asked for again', async () => {
    const other = await openPort((_request, response) => response.end());
    await other.close();
    const { url, warnings, forgotten } = await startPublic(other.port);
    const response = await fetch(url, { headers: elsewhere });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await response.json()).toMatchObject({ error: 'temporarily_unavailable' });
    expect(warnings).toHaveLength(1);
    expect(forgotten).toEqual(['elsewhere']);
  });

  it('that cannot be sent is answered with 503', async () => {
    const owner = { id: 'other', address: '127.0.0.1:99999', version: '1', startedAt: 1, ...settled };
    const { url } = await startPublic(0, { ownerOf: async () => owner, find: async () => owner });
    for (const headers of [elsewhere, { 'x-test-to': 'other' }]) {
      const response = await fetch(url, { method: 'POST', headers, body: 'x' });
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    }
  });

  it('is cut if the other node breaks off, so that no half of a response looks whole', async () => {
    const other = await openPort((_request, response) => {
      response.writeHead(200, { 'Content-Length': '100' });
      response.write('half', () => response.destroy());
    });
    const { url } = await startPublic(other.port);
    const response = await fetch(url, { headers: elsewhere });
    await expect(response.text()).rejects.toThrow();
  });

  it('ends if the network silently drops all packets between the nodes, and a later one gets 503', async () => {
    const held: ServerResponse[] = [];
    const other = await openPort(({ method }, response) =>
      method === 'POST' ? void held.push(response) : response.end(),
    );
    let connections = 0;
    other.server.on('secureConnection', () => connections++);
    const relay = await startTcpRelay('127.0.0.1', other.port);
    onTestFinished(() => relay.close());
    const { url } = await startPublic(relay.port);
    vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
    });
    onTestFinished(() => void vi.useRealTimers());
    const post = (): Promise<Response> => fetch(url, { method: 'POST', headers: elsewhere });
    const running = post();
    let isRunning = true;
    void running.then(() => {
      isRunning = false;
    });
    await expect.poll(() => held.length).toBe(1);
    // Leaves a connection that a later request could use.
    await (await fetch(url, { headers: elsewhere })).text();

    await vi.advanceTimersByTimeAsync(1_000);
    await expect.poll(() => connections).toBe(3);
    await vi.advanceTimersByTimeAsync(5_000);
    await expect.poll(() => connections).toBe(4);
    expect(isRunning).toBe(true);

    relay.setCut(true);
    await vi.advanceTimersByTimeAsync(11_000);
    expect((await running).status).toBe(502);
    const timers = vi.getTimerCount();
    const later = post();
    await expect.poll(() => vi.getTimerCount()).toBeGreaterThan(timers);
    await vi.advanceTimersByTimeAsync(5_000);
    expect((await later).status).toBe(503);
  });

  it('for a session is refused while this node is cut off, or nobody can say who serves it', async () => {
    const other = await openPort((_request, response) => response.end('served there'));
    const cutOff = await startPublic(other.port, { isCurrent: () => false });
    const blind = await startPublic(other.port, { ownerOf: async () => Promise.reject(new Error('away')) });
    for (const { url } of [cutOff, blind])
      expect((await fetch(url, { headers: elsewhere })).status).toBe(503);
  });
});

describe('a request that was judged here', () => {
  const body = JSON.stringify({ text: 'ü'.repeat(1_000) });

  it.each([{ 'x-test-read': 'yes' }, {}])(
    'goes to the other node with its body, read or not, and is marked as judged: %j',
    async (read) => {
      const seen: unknown[] = [];
      const other = await openPort(async (incoming, response) => {
        const { 'content-length': length, authorization } = incoming.headers;
        seen.push([other.isJudged(incoming), await textOf(incoming), Number(length), authorization]);
        response.end('served there');
      });
      const { url } = await startPublic(other.port);
      const headers = { ...read, 'x-test-to': 'other', authorization: 'Bearer t' };
      const response = await fetch(url, { method: 'POST', headers, body });
      expect([response.status, await response.text()]).toEqual([200, 'served there']);
      expect(seen).toEqual([[true, body, Buffer.byteLength(body), 'Bearer t']]);
    },
  );

  it('is told from one that was not, and from one that a client marks itself', async () => {
    const judged: boolean[] = [];
    const other = await openPort((incoming, response) => {
      judged.push(other.isJudged(incoming));
      response.end();
    });
    const { url } = await startPublic(other.port);
    await fetch(url, { headers: { ...elsewhere, 'x-gatehouse-judged': 'yes' } });
    expect(judged).toEqual([false]);
    const plain = { headers: { 'x-gatehouse-judged': 'yes' } } as unknown as IncomingMessage;
    expect(other.isJudged(plain)).toBe(false);
  });

  it('is forwarded once at most, and to no node that is not alive', async () => {
    let served = 0;
    const other = await openPort((_request, response) => {
      served++;
      response.end();
    });
    const there = await startPublic(other.port);
    const dead = await startPublic(other.port, { find: async () => undefined });
    const to = { 'x-test-to': 'other', 'x-test-read': 'yes' };
    for (const [url, headers] of [
      [there.url, { ...to, 'x-test-forwarded': 'yes' }],
      [dead.url, to],
    ] as const) {
      const response = await fetch(url, { method: 'POST', headers, body });
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    }
    expect(served).toBe(0);
  });

  it('ends at the other node when its client is gone', async () => {
    let goneAt = 0;
    const other = await openPort((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write('data: first\n\n');
      response.on('close', () => {
        goneAt = performance.now();
      });
    });
    const { url } = await startPublic(other.port);
    const aborting = new AbortController();
    const headers = { 'x-test-to': 'other', 'x-test-read': 'yes' };
    const response = await fetch(url, { method: 'POST', headers, body, signal: aborting.signal });
    await response.body?.getReader().read();
    aborting.abort();
    await expect.poll(() => goneAt, { timeout: 2_000 }).toBeGreaterThan(0);
  });
});

describe('a request over HTTP/2', () => {
  const startHttp2 = (to: number) => startPublic(to, {}, createHttp2Server as unknown as typeof createServer);

  /** Sends a request over HTTP/2. @param body sent after the headers, without a length */
  function send(url: string, headers: OutgoingHttpHeaders, body?: string): ClientHttp2Stream {
    const session = connectHttp2(url);
    onTestFinished(() => session.destroy());
    const stream = session.request(headers, { endStream: body === undefined });
    if (body !== undefined) stream.end(body);
    return stream;
  }

  async function read(stream: ClientHttp2Stream) {
    const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders];
    let text = '';
    for await (const chunk of stream) text += String(chunk);
    return { status: headers[':status'], headers, text };
  }

  it('goes to the other node with its body and host, and its response comes back', async () => {
    const seen: unknown[] = [];
    const other = await openPort(async (incoming, response) => {
      const { method, url, headers } = incoming;
      seen.push([method, url, headers.host, headers.cookie, await textOf(incoming)]);
      response.writeHead(200, { 'X-One': ['a', 'b'], 'Keep-Alive': 'timeout=5', Connection: 'keep-alive' });
      response.end('served there');
    });
    const { url } = await startHttp2(other.port);
    const { host } = new URL(url);
    const named = { ':authority': host, host: 'elsewhere' };
    const path = { ':method': 'POST', ':path': '/mcp?a=1', ...named, cookie: ['a=1', 'b=2'] };
    for (const headers of [elsewhere, { authorization: 'Bearer t', 'x-test-to': 'other' }]) {
      const response = await read(send(url, { ...path, ...headers }, 'a body'));
      expect(response).toMatchObject({ status: 200, headers: { 'x-one': 'a, b' }, text: 'served there' });
      expect(response.headers).not.toHaveProperty('connection');
    }
    const { text } = await read(send(url, { ...elsewhere, ':path': '/mcp?a=1' }));
    expect(text).toBe('served there');
    expect(seen).toEqual([
      ...[1, 2].map(() => ['POST', '/mcp?a=1', host, 'a=1; b=2', 'a body']),
      ['GET', '/mcp?a=1', host, undefined, ''],
    ]);
  });

  it('is refused if its method has no body, but it has one (T-131)', async () => {
    let served = 0;
    const other = await openPort(() => void served++);
    const { url } = await startHttp2(other.port);
    expect(await read(send(url, { ...elsewhere, ':method': 'DELETE' }, 'a body'))).toMatchObject({
      status: 400,
    });
    expect(served).toBe(0);
  });

  it('is cut if the other node breaks off, and ends there when its client is gone', async () => {
    const ends: string[] = [];
    const other = await openPort((incoming, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.on('close', () => ends.push(String(incoming.url)));
      response.write('data: first\n\n', () => {
        if (incoming.url === '/breaks') response.destroy();
      });
    });
    const { url } = await startHttp2(other.port);
    await expect(read(send(url, { ...elsewhere, ':path': '/breaks' }))).rejects.toThrow();
    const left = send(url, { ...elsewhere, ':path': '/left' });
    await once(left, 'data');
    left.close(constants.NGHTTP2_CANCEL);
    await expect.poll(() => ends).toEqual(['/breaks', '/left']);
  });
});

describe('a node that stops', () => {
  it('waits for the requests that it forwards, and cuts them after its patience', async () => {
    const held: ServerResponse[] = [];
    const other = await openPort((_request, response) => void held.push(response));
    const { url, forwarding } = await startPublic(other.port);
    const post = (): Promise<Response> => fetch(url, { method: 'POST', headers: elsewhere, body: 'x' });
    const running = post();
    await expect.poll(() => held.length).toBe(1);
    const ends: string[] = [];
    const drained = forwarding.drain(60_000).then(() => ends.push('drained'));
    await forwarding.drain(20);
    expect(ends).toEqual([]);
    held[0]?.end('served there');
    expect(await (await running).text()).toBe('served there');
    await drained;

    const cut = post();
    await expect.poll(() => held.length).toBe(2);
    await forwarding.drain(20);
    forwarding.close();
    expect((await cut).status).toBe(502);
  });

  it('ends the event streams that it forwards at once, and not by a broken connection', async () => {
    let isGone = false;
    const other = await openPort((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write('data: first\n\n');
      response.on('close', () => {
        isGone = true;
      });
    });
    const { url, forwarding } = await startPublic(other.port);
    const stream = await fetch(url, { headers: elsewhere });
    await forwarding.drain(60_000);
    expect(await stream.text()).toBe('data: first\n\n');
    await expect.poll(() => isGone).toBe(true);
  });

  it('waits for a response that flows through another node to a slow client, and cuts it after its patience', async () => {
    const length = 50_000_000;
    const ended: boolean[] = [];
    const other = await openPort((_request, response) => {
      response.on('close', () => ended.push(response.writableFinished));
      response.end(Buffer.alloc(length));
    });
    const { url } = await startPublic(other.port);
    /** Returns a response of which nothing is read yet. */
    const ask = async (): Promise<IncomingMessage> => {
      const asked = request(url, { headers: elsewhere }).end();
      return new Promise((resolve) => asked.once('response', resolve));
    };
    const slow = await ask();
    await other.drain(20);
    expect(ended).toEqual([]);
    const drained = other.drain(60_000);
    expect(await textOf(slow)).toHaveLength(length);
    await drained;
    expect(ended).toEqual([true]);

    await ask();
    await other.close();
    await expect.poll(() => ended).toEqual([true, false]);
  });
});

describe('the body of a request', () => {
  /** Sends bytes to a public port, and gives what came back within half a second. */
  async function send(url: string, text: string): Promise<string> {
    const socket = connectPlain(Number(new URL(url).port), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    let heard = '';
    socket.on('data', (chunk) => {
      heard += String(chunk);
    });
    socket.write(text);
    await sleep(500);
    return heard;
  }

  const inner = 'POST /inner HTTP/1.1\r\nHost: x\r\nContent-Length: 60\r\n\r\n';

  it.each(['GET', 'DELETE', 'HEAD', 'OPTIONS'])(
    'of %s is refused, and nothing of it is a request of its own at the other node (T-131)',
    async (method) => {
      const seen: string[] = [];
      const other = await openPort((incoming, response) => {
        seen.push(`${incoming.method} ${incoming.url}`);
        incoming.resume().on('end', () => response.end('served there'));
      });
      const { url } = await startPublic(other.port);
      const head = `${method} /mcp HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer t\r\nMcp-Session-Id: elsewhere\r\n`;
      const chunk = `${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`;
      for (const framing of [
        `Transfer-Encoding: chunked\r\n\r\n${chunk}`,
        `Content-Length: ${inner.length}\r\n\r\n${inner}`,
        `Content-Length: ${inner.length}\r\nConnection: keep-alive, content-length\r\n\r\n${inner}`,
      ])
        expect(await send(url, head + framing)).toMatch(/^HTTP\/1\.1 400 /);
      expect(await (await fetch(url, { method: 'POST', headers: elsewhere, body: 'sound' })).text()).toBe(
        'served there',
      );
      expect(seen).toEqual(['POST /']);
    },
  );

  it.each([
    ['chunked', `Transfer-Encoding: chunked\r\n\r\n5\r\nsound\r\n0\r\n\r\n`],
    ['of a length', `Content-Length: 5\r\n\r\nsound`],
    ['of a length that Connection names', `Content-Length: 5\r\nConnection: content-length\r\n\r\nsound`],
    ['that waits to be asked for', `Content-Length: 5\r\nExpect: 100-continue\r\n\r\nsound`],
  ])('of POST arrives in a framing of our own: %s (T-131)', async (_name, rest) => {
    const seen: unknown[] = [];
    const other = await openPort(async (incoming, response) => {
      const { authorization } = incoming.headers;
      seen.push([incoming.method, await textOf(incoming), authorization]);
      response.end('served there');
    });
    const { url } = await startPublic(other.port);
    const head = 'POST /mcp HTTP/1.1\r\nHost: x\r\nMcp-Session-Id: elsewhere\r\nAuthorization: Bearer t\r\n';
    for (let times = 0; times < 2; times++) expect(await send(url, head + rest)).toContain('served there');
    expect(seen).toEqual([
      ['POST', 'sound', 'Bearer t'],
      ['POST', 'sound', 'Bearer t'],
    ]);
  });
});

describe('the port for other nodes', () => {
  it('serves nothing that is meant for another node, or while this one may not serve', async () => {
    let served = 0;
    const nodePort = await openNodePort({ host: '127.0.0.1', port: 0, key });
    onTestFinished(() => nodePort.close());
    nodePort.serve(
      (_request, response) => {
        served++;
        response.end();
      },
      () => false,
      async () => true,
    );
    const { url, forwarding } = await startPublic(nodePort.port);
    expect((await fetch(url, { headers: elsewhere })).status).toBe(503);
    expect(await forwarding.endIdleSession('other', 'idle')).toBe(false);
    expect(served).toBe(0);
  });

  it('leaves it to the other nodes to close idle connections, which they do after half a minute', async () => {
    const { server } = await openPort(() => undefined);
    expect(server.keepAliveTimeout).toBeGreaterThan(30_000);
  });

  it('ends a session for another node, unless it is in use', async () => {
    let served = 0;
    const nodePort = await openPort(() => void served++, ['idle']);
    const { forwarding } = await startPublic(nodePort.port);
    expect(await forwarding.endIdleSession('other', 'idle')).toBe(true);
    expect(await forwarding.endIdleSession('other', 'busy')).toBe(false);
    await nodePort.close();
    expect(await forwarding.endIdleSession('other', 'idle')).toBe(false);
    const alone = await startPublic(nodePort.port, { find: async () => undefined });
    expect(await alone.forwarding.endIdleSession('other', 'idle')).toBe(false);
    expect(served).toBe(0);
  });

  it('is of use to nobody without the key of the installation, in TLS or in the clear', async () => {
    let served = 0;
    const nodePort = await openPort((_request, response) => {
      served++;
      response.end();
    });
    const { url } = await startPublic(nodePort.port);
    const stranger = forwardSessions({
      node: {
        isCurrent: () => true,
        ownerOf: async () => ({
          id: 'x',
          address: `127.0.0.1:${nodePort.port}`,
          version: '1',
          startedAt: 1,
          ...settled,
        }),
        find: async () => undefined,
        forgetOwner: () => undefined,
      } as unknown as ClusterNode,
      key: randomBytes(32),
      isForwarded: () => false,
      sessionOf: () => ({ key: 'elsewhere' }),
      findClientAddress: () => '',
      logger: { warn: () => undefined },
    });
    const server = createServer(stranger.wrap(() => undefined));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.close();
      stranger.close();
    });
    const strangersUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect((await fetch(strangersUrl, { headers: { authorization: 'Bearer t' } })).status).toBe(503);
    const plain = new Promise((resolve) => {
      request({ host: '127.0.0.1', port: nodePort.port }, resolve)
        .once('error', () => resolve('refused'))
        .end();
    });
    expect(await plain).toBe('refused');
    const withoutKey = new Promise((resolve) => {
      connect({ host: '127.0.0.1', port: nodePort.port, rejectUnauthorized: false }, () =>
        resolve('open'),
      ).once('error', () => resolve('refused'));
    });
    expect(await withoutKey).toBe('refused');
    expect(served).toBe(0);
    expect((await fetch(url, { headers: elsewhere })).status).toBe(200);
    expect(served).toBe(1);
  });

  it('has a key of its own, which is the same at every node and none of the other keys', () => {
    expect(deriveNodeKey('a')).toEqual(deriveNodeKey('a'));
    expect(deriveNodeKey('a')).not.toEqual(deriveNodeKey('b'));
    expect(deriveNodeKey('a')).toHaveLength(32);
  });
});
