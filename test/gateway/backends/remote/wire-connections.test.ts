// Flows of src/gateway/backends/remote/wire.ts over real sockets.
import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { WireAnswer } from '../../../../src/gateway/backends/remote/answer-body.ts';
import { Wire } from '../../../../src/gateway/backends/remote/wire.ts';

const answerOf = (body: string, fields = ''): string =>
  `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n${fields}\r\n${body}`;

/** Serves connections byte by byte, and reaches them. */
async function serve(onRequest: (socket: Socket, count: number, connections: number) => void, headMs = 5000) {
  let connections = 0;
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    connections++;
    const number = connections;
    let count = 0;
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      if (/^(?:GET|POST) /.test(bytes.toString('latin1'))) onRequest(socket, ++count, number);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const times = { connectMs: 1000, headMs, bodyMs: 1000 };
  const wire = new Wire({ url: new URL(`http://127.0.0.1:${port}/mcp`), ...times, allowsPlainHttp: false });
  onTestFinished(() => {
    wire.close();
    for (const socket of open) socket.destroy();
    server.close();
  });
  /** What comes of a request: its body, and how it ended; or why there is none. */
  const ask = (body?: string, onHead: (answer: WireAnswer) => void = () => undefined): Promise<string> =>
    new Promise((resolve) => {
      let text = '';
      wire.send(
        {
          method: body === undefined ? 'GET' : 'POST',
          path: '/mcp',
          headers: [],
          ...(body !== undefined && { body }),
        },
        {
          head(answer) {
            onHead(answer);
            answer.read({
              data(bytes) {
                text += bytes.toString('latin1');
              },
              ended: (broken) => resolve(broken ? `${text} broken` : text),
            });
          },
          failed: ({ reason, code = '-', isStale = false }) => resolve(`${reason} ${code} ${isStale}`),
        },
      );
    });
  return { ask, wire, connections: () => connections, open };
}

describe('a connection to a backend', () => {
  it('is used again when an answer is whole', async () => {
    const { ask, connections } = await serve((socket, count) => socket.write(answerOf(`${count}`)));
    expect([await ask(), await ask('{}'), await ask()]).toEqual(['1', '2', '3']);
    expect(connections()).toBe(1);
  });

  it.each([
    ['says that it closes', answerOf('a', 'connection: close\r\n')],
    ['will close at once', answerOf('a', 'keep-alive: timeout=1\r\n')],
    ['says more than it was asked for', `${answerOf('a')}${answerOf('evil')}`],
  ])('is not used again where the server %s (T-157)', async (_what, answer) => {
    const { ask, connections } = await serve((socket) => socket.write(answer));
    expect([await ask(), await ask()]).toEqual(['a', 'a']);
    expect(connections()).toBe(2);
  });

  it('is not used for as long as usual where the server closes it sooner', async () => {
    const { ask, connections, open } = await serve((socket) =>
      socket.write(answerOf('a', 'connection: keep-alive\r\nkeep-alive: timeout=2, max=100\r\n')),
    );
    expect([await ask(), await ask()]).toEqual(['a', 'a']);
    expect(connections()).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect(await ask()).toBe('a');
    expect(connections()).toBe(2);
    await expect.poll(() => open.size).toBe(1);
  });

  it('on which something comes that nobody asked for is closed, and is no answer to the next (T-157)', async () => {
    const { ask, open } = await serve((socket, _count, connection) => {
      socket.write(answerOf(`${connection}`));
      if (connection === 1) setTimeout(() => socket.write(answerOf('evil')), 20);
    });
    expect(await ask()).toBe('1');
    await expect.poll(() => open.size).toBe(0);
    expect(await ask()).toBe('2');
  });

  it('that was closed meanwhile is told from one that breaks under a request', async () => {
    const { ask } = await serve((socket, count, connection) => {
      if (connection !== 2 && count === 1) socket.write(answerOf('a'));
      else if (connection === 3) socket.write('HTTP/1.1 200 OK\r\n', () => socket.destroy());
      else socket.destroy();
    });
    expect(await ask()).toBe('a');
    expect(await ask()).toMatch(/^backend_ended \S+ true$/);
    expect(await ask()).toMatch(/^backend_ended \S+ false$/);
    expect(await ask()).toBe('a');
    expect(await ask()).toMatch(/^backend_ended \S+ false$/);
  });

  it('that breaks within an answer breaks the answer', async () => {
    const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
    const { ask } = await serve((socket, _count, connection) => {
      if (connection === 1) socket.end(`${head}5\r\nhel`);
      else socket.write(`${head}5\r\nhelloXY`);
    });
    expect(await ask()).toBe('hel broken');
    expect(await ask()).toBe('hello broken');
  });

  it('is not used again where the server answered before it was sent all', async () => {
    const { ask, connections } = await serve((socket) => {
      socket.pause();
      socket.write(answerOf('no'));
    });
    expect(await ask('x'.repeat(20_000_000))).toBe('no');
    expect(await ask()).toBe('no');
    expect(connections()).toBe(2);
  });

  it('is closed by who drops an answer that is not whole, and hears nothing more', async () => {
    const { wire, open } = await serve((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhel');
    });
    const told: string[] = [];
    wire.send(
      { method: 'GET', path: '/mcp', headers: [] },
      {
        head(answer) {
          told.push('head');
          answer.read({ data: () => told.push('data'), ended: () => told.push('ended') });
          answer.drop();
        },
        failed: () => told.push('failed'),
      },
    );
    await expect.poll(() => told).toEqual(['head']);
    await expect.poll(() => open.size).toBe(0);
    expect(told).toEqual(['head']);
  });

  it('leaves a server that sends too much waiting for a while, and is read to its end afterwards', async () => {
    const begun = performance.now();
    const { ask } = await serve((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\na');
      setTimeout(() => socket.write('b'), 10);
    });
    expect(await ask(undefined, (answer) => answer.pause(200))).toBe('ab');
    expect(performance.now() - begun).toBeGreaterThan(190);
    expect(await ask()).toBe('ab');
  });

  it('is heard in nobody’s context, also by those who come after the first (T-127)', async () => {
    const { ask, connections } = await serve((socket) => socket.write(answerOf('a')));
    const caller = new AsyncLocalStorage<string>();
    const heard: unknown[] = [];
    for (const name of ['ada', 'bob'])
      await caller.run(name, () => ask(undefined, () => heard.push(caller.getStore())));
    expect(heard).toEqual([undefined, undefined]);
    expect(connections()).toBe(1);
  });

  it('may answer without a length, with its end', async () => {
    const { ask, connections } = await serve((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nall of it'));
    expect([await ask(), await ask()]).toEqual(['all of it', 'all of it']);
    expect(connections()).toBe(2);
  });
});
