import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FetchRefused } from '../../src/net/fetch-refused.ts';
import { sendPinned, settleBefore, toRefusal } from '../../src/net/pinned-request.ts';

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
