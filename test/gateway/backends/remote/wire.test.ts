import { createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { Wire, type WireRequest } from '../../../../src/gateway/backends/remote/wire.ts';

/** A server that notes what comes, in the pieces in which it comes. */
async function listen(answer = 'HTTP/1.1 204 No\r\n\r\n') {
  const came: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      came.push(bytes.toString('latin1'));
      socket.write(answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const times = { connectMs: 1000, headMs: 1000, bodyMs: 1000 };
  const wire = new Wire({ url: new URL(`http://127.0.0.1:${port}/mcp`), ...times, allowsPlainHttp: false });
  onTestFinished(() => {
    wire.close();
    server.close();
  });
  const send = (request: WireRequest): Promise<string> =>
    new Promise((resolve) => {
      let hasAsked = false;
      wire.send(request, {
        head: ({ status }) => resolve(String(status)),
        failed: ({ reason, code }) => resolve(hasAsked ? `${reason} ${code}` : 'too early'),
      });
      hasAsked = true;
    });
  return { came, port, send, wire };
}

it('a request leaves in one piece, its body as UTF-8 and its fields a byte a character', async () => {
  const { came, port, send } = await listen();
  const headers = ['x-key', 'k', 'last-event-id', '\u00fc1'];
  await send({ method: 'POST', path: '/mcp?a=b', headers, body: '{"text":"\u{1f511} \u00fc"}' });
  await send({ method: 'GET', path: '/mcp', headers: [] });
  const body = Buffer.from('{"text":"\u{1f511} \u00fc"}').toString('latin1');
  expect(came).toEqual([
    `POST /mcp?a=b HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: keep-alive\r\naccept-encoding: identity\r\nx-key: k\r\nlast-event-id: \u00fc1\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    `GET /mcp HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: keep-alive\r\naccept-encoding: identity\r\n\r\n`,
  ]);
});

it.each([
  ['a value with a line end', { headers: ['x-key', 'a\r\nx: y'] }],
  ['a value with a line feed', { headers: ['x-key', 'a\n'] }],
  ['a value beyond a byte', { headers: ['x-key', '\u{1f511}'] }],
  ['a name with a blank', { headers: ['x key', 'a'] }],
  ['no name', { headers: ['', 'a'] }],
  ['a path with a blank', { path: '/mcp HTTP/1.1' }],
  ['a path with a line end', { path: '/mcp\r\nx: y' }],
])('a request with %s is not sent, and who asks hears so after it has asked (T-157)', async (_what, odd) => {
  const { came, send } = await listen();
  expect(await send({ method: 'GET', path: '/mcp', headers: [], ...odd })).toBe(
    'backend_refused ERR_INVALID_CHAR',
  );
  expect(came).toEqual([]);
});

it('a request that is dropped before it is sent is not sent, and nobody hears of it', async () => {
  const { came, wire, send } = await listen();
  const told: string[] = [];
  const listener = { head: () => told.push('head'), failed: () => told.push('failed') };
  wire.send({ method: 'GET', path: '/dropped', headers: [] }, listener)();
  wire.send({ method: 'GET', path: '/odd', headers: ['x', '\n'] }, listener)();
  await send({ method: 'GET', path: '/mcp', headers: [] });
  expect(came).toHaveLength(1);
  expect(told).toEqual([]);
});

it.each(['//', '/.//', '//evil/x', '/mcp'])(
  'a redirect of the path %s ends the request, and nothing else (T-157)',
  async (path) => {
    const { send } = await listen('HTTP/1.1 307 Else\r\nlocation: x\r\ncontent-length: 0\r\n\r\n');
    expect(await send({ method: 'POST', path, headers: [], body: '{}' })).toBe(
      'backend_redirected undefined',
    );
  },
);

it('a list of headers that is kept is sent as it is each time, and refused each time where it holds none', async () => {
  const { came, port, send } = await listen();
  const [ada, bob] = [
    ['x-key', 'a'],
    ['x-key', 'b'],
  ];
  for (const headers of [ada, bob, ada])
    await send({ method: 'GET', path: '/mcp', headers, keepsHeaders: true });
  const request = (key: string) =>
    `GET /mcp HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: keep-alive\r\naccept-encoding: identity\r\nx-key: ${key}\r\n\r\n`;
  expect(came).toEqual([request('a'), request('b'), request('a')]);
  const wrong = { method: 'GET', path: '/mcp', headers: ['x-key', 'a\n'], keepsHeaders: true } as const;
  for (const time of [1, 2]) expect(await send(wrong), `${time}`).toBe('backend_refused ERR_INVALID_CHAR');
});
