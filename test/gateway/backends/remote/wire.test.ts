import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { redirectTarget, Wire, type WireRequest } from '../../../../src/gateway/backends/remote/wire.ts';

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

const ok = 'HTTP/1.1 200 OK\r\n';
const chunked = `${ok}transfer-encoding: chunked\r\n\r\n`;

/** A server that sends an answer in pieces, and the outcome of a request to it: the body, and how it ended. */
async function readOutcome(answer: string, size = answer.length): Promise<string> {
  const bytes = Buffer.from(answer, 'latin1');
  const server = createServer((socket) => {
    socket.setNoDelay();
    socket.on('error', () => undefined);
    socket.once('data', async () => {
      for (let at = 0; at < bytes.length && !socket.destroyed; at += size) {
        socket.write(bytes.subarray(at, at + size));
        await new Promise(setImmediate);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const times = { connectMs: 1000, headMs: 5000, bodyMs: 5000 };
  const wire = new Wire({ url: new URL(`http://127.0.0.1:${port}/mcp`), ...times, allowsPlainHttp: false });
  onTestFinished(() => {
    wire.close();
    server.close();
  });
  return new Promise((resolve) => {
    let text = '';
    wire.send(
      { method: 'POST', path: '/mcp', headers: [], body: '{}' },
      {
        head: (head) =>
          head.read({
            data(part) {
              text += part.toString('latin1');
            },
            ended: (broken) => resolve(broken ?? `${[...head.headers].join(' ')} ${text}`),
          }),
        failed: ({ reason }) => resolve(reason),
      },
    );
  });
}

it.each([1, 3, 1000])(
  'a response is read in pieces of %i bytes, with a length or in chunks',
  async (size) => {
    const early = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n';
    const fields = 'Content-Length: 5\r\nX-A:\t b c \r\nx-a:d\r\n\r\n';
    expect(await readOutcome(`${early}${ok}${fields}h\u00e9llo`, size)).toBe(
      'content-length,5 x-a,b c, d h\u00e9llo',
    );
    expect(
      await readOutcome(`${chunked}5;x="y"\r\nhello\r\n00B\r\n, you there\r\n0\r\nx: y\r\n\r\n`, size),
    ).toBe('transfer-encoding,chunked hello, you there');
  },
);

it.each([
  ['a length and chunks', `${ok}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n`],
  ['two lengths', `${ok}content-length: 1\r\ncontent-length: 1\r\n\r\na`],
  ['a list of lengths', `${ok}content-length: 1, 1\r\n\r\na`],
  ['a negative length', `${ok}content-length: -1\r\n\r\n`],
  ['a signed length', `${ok}content-length: +1\r\n\r\na`],
  ['an empty length', `${ok}content-length:\r\n\r\n`],
  ['a blank before the colon', `${ok}content-length : 1\r\n\r\na`],
  ['a folded line', `${ok}x: a\r\n b\r\ncontent-length: 1\r\n\r\na`],
  ['a line without a colon', `${ok}hello\r\n\r\n`],
  ['a nameless field', `${ok}: a\r\n\r\n`],
  ['a bare line feed', `${ok}x: a\ncontent-length: 1\r\n\r\na`],
  ['lines that end with LF alone', 'HTTP/1.1 200 OK\ncontent-length: 0\n\n'],
  ['its first line alone, ended with LF', 'HTTP/1.1 200 OK\n'],
  ['LF alone behind a line of its fields', `${ok}x: a\ncontent-length: 0\n\n`],
  ['LF alone at its end', `${ok}content-length: 0\r\n\n`],
  ['a bare carriage return', `${ok}x: a\rcontent-length: 1\r\n\r\na`],
  ['a null', `${ok}x: a\0b\r\n\r\n`],
  ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n'],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
  ['no status', 'HTTP/1.1 OK\r\n\r\n'],
  ['a switch of protocols', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n'],
])('a response is not HTTP with %s (T-157)', async (_what, answer) => {
  expect(await readOutcome(answer)).toBe('backend_not_http');
  expect(await readOutcome(answer, 1)).toBe('backend_not_http');
});

it.each([
  ['no size', '\r\na\r\n'],
  ['a signed size', '+1\r\na\r\n'],
  ['a size as programs write it', '0x1\r\na\r\n'],
  ['a letter that is no digit', 'g\r\na\r\n'],
  ['a digit and a letter that is none', '1g\r\na\r\n'],
  ['a character before the digits in ASCII', '/\r\na\r\n'],
  ['a character before the letters in ASCII', '`\r\na\r\n'],
  ['something else than CR before the LF of its size', '1x\na\r\n'],
  ['something else than CR before the LF of its end', '1\r\nax\n'],
  ['something else than CR before the LF of the last line', '0\r\nx\n'],
  ['a blank before its size', ' 1\r\na\r\n'],
  ['a size that is no end of a line', '1\na\r\n'],
  ['only lines that end with LF', '1\na\n0\n\n'],
  ['trailers that end with LF', '0\r\nx: y\n\n'],
  ['a null in what it adds', '1;a\0\r\na\r\n'],
  ['more than it said', '1\r\nab\r\n0\r\n\r\n'],
  ['a trailer that is none', '0\r\nhello\r\n\r\n'],
])('a response breaks off at a chunk with %s (T-157)', async (_what, chunk) => {
  expect(await readOutcome(`${chunked}${chunk}`)).toBe('backend_not_http');
  expect(await readOutcome(`${chunked}${chunk}`, 1)).toBe('backend_not_http');
});

it.each([
  ['in the place of a size', 'hello'],
  ['behind a size', '5hello'],
  ['behind a blank and a size', '5 hello'],
  ['behind what it adds', '5;a\0'],
  ['behind a line that ends with CR alone', '5\rhello'],
  ['in the place of the end of a chunk', '1\r\nab'],
])(
  'a response breaks off if a chunk has anything else %s, without a wait for the rest (T-157)',
  async (_where, chunk) => {
    expect(await readOutcome(`${chunked}${chunk}`)).toBe('backend_not_http');
    expect(await readOutcome(`${chunked}${chunk}`, 1)).toBe('backend_not_http');
  },
);

it('the head of a response is bounded (T-157)', async () => {
  const large = `x: ${'y'.repeat(40_000)}`;
  expect(await readOutcome(`${ok}${large}\r\n\r\n`)).toBe('backend_answer_too_large');
  expect(await readOutcome(`${ok}${large}`, 5000)).toBe('backend_answer_too_large');
});

describe('the target of a redirect', () => {
  const base = new URL('https://tools.internal/s/secret/mcp?key=ours');

  it.each([
    ['https://login.example/in?state=secret#token', 'https://login.example/…'],
    ['https://ann:secret@login.example', 'https://login.example/'],
    ['/s/secret/mcp/', 'https://tools.internal/…'],
    ['http://tools.internal:8080/ann:secret@host', 'http://tools.internal:8080/…'],
    ['http:ann:secret@host/in', 'http://host/…'],
    ['foo:ann:secret@host/in', undefined],
    ['https://[', undefined],
    [undefined, undefined],
  ])('where a redirect leads is told without what may be secret: %j (T-194)', (location, target) => {
    expect(redirectTarget(location, base)).toBe(target);
  });

  it('where a redirect leads from what is no URL is not told', () => {
    expect(redirectTarget('/in', null)).toBeUndefined();
  });
});
