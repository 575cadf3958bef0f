import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { Readable } from 'node:stream';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FetchRefused } from '../../src/net/fetch-refused.ts';
import {
  readBoundedBody,
  resolveHost,
  sendPinned,
  settleBefore,
  toRefusal,
} from '../../src/net/pinned-request.ts';

const open = new AbortController().signal;

describe('a pinned request', () => {
  it('goes to the address it was given, whatever the name of its host (T-068)', async () => {
    const server = createServer((request, response) => response.end(request.headers.host));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const url = new URL(`http://no-such-host.invalid:${port}/`);
    const options = { headers: {}, maxHeaderBytes: 8_192, signal: open };
    const answer = await sendPinned(url, ['127.0.0.1'], options);
    expect(String(await answer.toArray())).toBe(`no-such-host.invalid:${port}`);
  });
});

describe('a wait', () => {
  it('ends with the answer or with the time limit, whichever comes first', async () => {
    await expect(settleBefore(open, Promise.resolve(1))).resolves.toBe(1);
    await expect(settleBefore(AbortSignal.timeout(5), new Promise(() => undefined))).rejects.toThrow();
  });
});

describe('a failed request', () => {
  it.each([
    ['CERT_HAS_EXPIRED', 'certificate'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'certificate'],
    ['ECONNREFUSED', 'unreachable'],
    ['ENOTFOUND', 'unreachable'],
  ])('with %s is %s', (code, fault) => {
    expect(toRefusal(Object.assign(new Error('no'), { code }), open)).toMatchObject({ fault });
  });

  it('keeps the code alone, and no byte of what the host sent or has in its certificate (T-057, T-194)', async () => {
    const server = createTcpServer((socket) => socket.end('canary of an answer that is not HTTP\r\n\r\n'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const url = new URL(`http://no-such-host.invalid:${port}/`);
    const options = { headers: {}, maxHeaderBytes: 8_192, signal: open };
    const thrown = await sendPinned(url, ['127.0.0.1'], options).catch((error: unknown) => error);
    expect(thrown).toHaveProperty('rawPacket');
    const refusal = toRefusal(thrown, open) as FetchRefused;
    expect(refusal).toMatchObject({ fault: 'unreachable', cause: { code: 'HPE_INVALID_CONSTANT' } });
    expect(refusal.cause).not.toHaveProperty('rawPacket');
    expect(inspect(refusal, { depth: 9, showHidden: true })).not.toContain('canary');
    expect(toRefusal(thrown, AbortSignal.abort())).not.toHaveProperty('cause');
  });

  it('is a timeout under a limit that has passed; a refusal, or a mistake of ours, stays what it is', () => {
    expect(toRefusal(new Error('no'), AbortSignal.abort())).toMatchObject({ fault: 'timeout' });
    const refusal = new FetchRefused('encoded', 'no');
    const mistake = new TypeError('ours');
    expect(toRefusal(refusal, open)).toBe(refusal);
    expect(toRefusal(mistake, open)).toBe(mistake);
  });
});

const { signal } = new AbortController();

describe('resolving a host', () => {
  it('that is an address asks nobody', async () => {
    expect(await resolveHost('127.0.0.1', signal)).toEqual(['127.0.0.1']);
    expect(await resolveHost('::1', signal)).toEqual(['::1']);
  });

  it.each(['localhost', 'app.localhost'])(
    'gives %s the loopback addresses (RFC 6761 section 6.3)',
    async (host) => {
      expect(await resolveHost(host, signal)).toEqual(['127.0.0.1', '::1']);
    },
  );

  it('that nobody has gives nothing', async () => {
    expect(await resolveHost('no-such-host.invalid', AbortSignal.timeout(1_000))).toEqual([]);
  });
});

function answer(headers: Record<string, string>, ...chunks: string[]): IncomingMessage {
  const body = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  return Object.assign(body, { headers }) as unknown as IncomingMessage;
}

describe('a body', () => {
  it('is read as far as the limit, over all its pieces (T-071)', async () => {
    expect((await readBoundedBody(answer({}, 'ab', 'cd'), 4)).toString()).toBe('abcd');
    await expect(readBoundedBody(answer({}, 'ab', 'cde'), 4)).rejects.toMatchObject({ fault: 'too_large' });
  });

  it.each([
    [{ 'content-length': '5' }, 'too_large'],
    [{ 'content-encoding': 'gzip' }, 'encoded'],
    [{ 'content-encoding': 'BR' }, 'encoded'],
    [{ 'content-encoding': 'identity, gzip' }, 'encoded'],
  ])('that is announced by %j is not read at all (T-071)', async (headers, fault) => {
    const response = answer(headers, 'a');
    await expect(readBoundedBody(response, 4)).rejects.toMatchObject({ fault });
    expect((response as unknown as Readable).readableDidRead).toBe(false);
  });

  it('that says it is as it is, is taken so', async () => {
    expect(
      (await readBoundedBody(answer({ 'content-encoding': 'Identity', 'content-length': '2' }, 'ok'), 4))
        .length,
    ).toBe(2);
  });
});
