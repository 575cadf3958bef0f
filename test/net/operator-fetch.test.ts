import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { FetchRefused } from '../../src/net/fetch-refused.ts';
import { createOperatorFetch, type OperatorFetchOptions } from '../../src/net/operator-fetch.ts';
import { type DocumentHost, startDocumentHost, trustDocumentHosts } from '../support/document-host.ts';

let host: DocumentHost;
let plain: Server;
let plainUrl: string;
let handle: RequestListener = (_request, response) => response.end('{}');
beforeAll(async () => {
  trustDocumentHosts();
  host = await startDocumentHost();
  plain = createServer((request, response) => handle(request, response));
  await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
  plainUrl = `http://127.0.0.1:${(plain.address() as AddressInfo).port}/`;
});
afterAll(async () => {
  await host.stop();
  plain.closeAllConnections();
  await new Promise((resolve) => plain.close(resolve));
});

const operatorFetch = (options: Partial<OperatorFetchOptions> = {}) =>
  createOperatorFetch({ allowPrivateNetwork: false, dangerouslyFromLoopback: true, ...options });

async function faultOf(fetching: Promise<Response>): Promise<unknown> {
  return fetching.then(
    ({ status }) => status,
    (error) => {
      if (error instanceof FetchRefused) return error.fault;
      throw error;
    },
  );
}

describe('a fetch for a server that the operator named', () => {
  it('sends method, headers and form, and gives status, headers and body', async () => {
    let sent = '';
    handle = async (request, response) => {
      for await (const part of request) sent += part;
      const { 'content-type': type, authorization } = request.headers;
      response.writeHead(201, { 'x-got': `${request.method} ${type} ${authorization}` }).end('{"a":1}');
    };
    const answer = await operatorFetch()(plainUrl, {
      method: 'POST',
      headers: { authorization: 'Basic x', 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ code: 'c d' }),
    });
    expect([answer.status, answer.headers.get('x-got'), await answer.json(), sent]).toEqual([
      201,
      'POST application/x-www-form-urlencoded Basic x',
      { a: 1 },
      'code=c+d',
    ]);
  });

  it('sends bytes as they are', async () => {
    handle = async (request, response) => response.end(Buffer.concat(await request.toArray()));
    const body = new Uint8Array([0, 255, 10, 13]);
    const answer = await operatorFetch()(plainUrl, { method: 'PUT', body });
    expect(await answer.bytes()).toEqual(body);
  });

  it('gives a redirect as an answer where it is asked to, and does not follow it', async () => {
    let count = 0;
    handle = (_request, response) => response.writeHead(302, { location: `/${++count}` }).end();
    const answer = await operatorFetch({ redirects: 'given' })(plainUrl);
    expect([answer.status, answer.headers.get('location'), count]).toEqual([302, '/1', 1]);
  });

  it.each(['POST', 'PUT', 'DELETE'])('sends a body with %s', async (method) => {
    handle = async (request, response) => response.end(Buffer.concat(await request.toArray()));
    const answer = await operatorFetch()(plainUrl, { method, body: '{"ü":1}' });
    expect(await answer.text()).toBe('{"ü":1}');
  });

  it('knows answers without a body', async () => {
    handle = (_request, response) => response.writeHead(204).end();
    expect((await operatorFetch()(plainUrl, { method: 'DELETE' })).status).toBe(204);
  });

  it('asks over https, by the name in the URL', async () => {
    host.serve('/named', (request, response) => response.end(JSON.stringify(request.headers.host)));
    const answer = await operatorFetch()(`https://localhost:${host.port}/named`);
    expect(await answer.json()).toBe(`localhost:${host.port}`);
  });

  it.each([301, 302, 303, 307, 308])('follows no redirect, here %s (T-070, T-088)', async (status) => {
    handle = (_request, response) => response.writeHead(status, { location: '/elsewhere' }).end();
    expect(await faultOf(operatorFetch()(plainUrl))).toBe('redirected');
  });

  it('reads so much and no more, and waits so long and no longer (T-084)', async () => {
    handle = (_request, response) => response.end('x'.repeat(1025));
    expect(await faultOf(operatorFetch({ maxBytes: 1024 })(plainUrl))).toBe('too_large');
    expect(await faultOf(operatorFetch({ maxBytes: 1025 })(plainUrl))).toBe(200);
    handle = () => undefined;
    expect(await faultOf(operatorFetch({ timeoutMs: 100 })(plainUrl))).toBe('timeout');
  });

  it.each([['ftp://idp.example/'], ['https://u:p@idp.example/'], ['http://idp.example/']])(
    'of %s asks nobody, or not without https (T-088)',
    async (url) => {
      const fetch = operatorFetch({ resolve: async () => ['8.8.8.8'] });
      expect(await faultOf(fetch(url))).toBe('not_https');
    },
  );

  it.each<[string, Partial<OperatorFetchOptions>, string, string]>([
    ['this machine', { dangerouslyFromLoopback: false }, '127.0.0.1', 'not_public'],
    [
      'this machine, as a private network',
      { dangerouslyFromLoopback: false, allowPrivateNetwork: true },
      '::1',
      'not_public',
    ],
    ['a private network', {}, '10.1.2.3', 'not_public'],
    ['a metadata service', { allowPrivateNetwork: true }, '169.254.169.254', 'not_public'],
    ['a metadata service in a private range', { allowPrivateNetwork: true }, '100.100.100.200', 'not_public'],
  ])(
    'to %s, with %j, is sent not one byte: %s is %s (A12-01, T-088)',
    async (_what, options, address, fault) => {
      const fetch = operatorFetch({ ...options, resolve: async () => [address] });
      expect(await faultOf(fetch('https://idp.example:4/'))).toBe(fault);
    },
  );

  it('goes to a private network where the operator says so', async () => {
    const ending = new AbortController();
    const resolve = async (): Promise<string[]> => {
      // From here on it would connect, which it is kept from.
      ending.abort();
      return ['10.1.2.3'];
    };
    const fetch = operatorFetch({ allowPrivateNetwork: true, resolve });
    expect(await faultOf(fetch('https://idp.example/', { signal: ending.signal }))).toBe('unreachable');
  });

  it('knows the names the system knows', async () => {
    handle = (_request, response) => response.end('{}');
    const fetch = operatorFetch();
    expect(await faultOf(fetch(plainUrl.replace('127.0.0.1', 'localhost')))).toBe(200);
    expect(await faultOf(fetch('https://no-such-host.invalid/'))).toBe('unreachable');
  });

  it('uses no proxy of the environment (T-069)', async () => {
    vi.stubEnv('NODE_USE_ENV_PROXY', '1');
    vi.stubEnv('HTTP_PROXY', 'http://127.0.0.1:1');
    onTestFinished(() => void vi.unstubAllEnvs());
    handle = (_request, response) => response.end('{}');
    expect(await faultOf(operatorFetch()(plainUrl))).toBe(200);
  });
});
