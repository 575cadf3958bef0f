import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createGuardedFetch, demandedProxy } from '../../src/net/guarded-fetch.ts';
import { createCertificate } from '../support/certificate.ts';
import { type DocumentHost, startDocumentHost, trustDocumentHosts } from '../support/document-host.ts';
import { faultOf, guardedFetch, hostForTest } from './subject.ts';

let host: DocumentHost;
beforeAll(async () => {
  trustDocumentHosts();
  host = await startDocumentHost();
});
afterAll(() => host.stop());
beforeEach(() => host.requests.splice(0));

const at = (path: string): URL => new URL(`https://app.example.com:${host.port}${path}`);

describe('a guarded fetch', () => {
  it('gives status, headers and body of the host it was asked for, by the name in the URL', async () => {
    host.serve('/named', (request, response) =>
      response.writeHead(200, { 'x-host': request.headers.host ?? '' }).end('{}'),
    );
    const { status, headers, body } = await guardedFetch()(at('/named'));
    expect([status, headers['x-host'], body.toString()]).toEqual([200, `app.example.com:${host.port}`, '{}']);
  });

  it('sends no cookie, no credentials, no referrer, and asks for JSON that is not compressed (T-071)', async () => {
    let sent: Record<string, unknown> = {};
    host.serve('/headers', (request, response) => {
      sent = request.headers;
      response.end('{}');
    });
    await guardedFetch()(at('/headers'));
    expect(Object.keys(sent).sort()).toEqual([
      'accept',
      'accept-encoding',
      'connection',
      'host',
      'user-agent',
    ]);
    expect(sent).toMatchObject({ accept: 'application/json', 'accept-encoding': 'identity' });
  });

  it.each([
    'http://app.example.com/',
    'ftp://app.example.com/',
    'https://u@app.example.com/',
    'https://:p@app.example.com/',
  ])('of %s asks nobody', async (url) => {
    const resolve = vi.fn(async () => ['127.0.0.1']);
    expect(await faultOf(guardedFetch({ resolve })(new URL(url)))).toBe('not_https');
    expect(resolve).not.toHaveBeenCalled();
  });
});

describe('a host that is not public', () => {
  let victim: Server;
  let connections = 0;
  let port = 0;
  beforeAll(async () => {
    victim = createServer(() => {
      connections += 1;
    });
    await new Promise<void>((resolve) => victim.listen(0, '127.0.0.1', resolve));
    port = (victim.address() as { port: number }).port;
  });
  afterAll(() => new Promise((resolve) => victim.close(resolve)));

  const guarded = (resolve?: () => Promise<string[]>) =>
    createGuardedFetch({
      maxBytes: 5120,
      timeoutMs: 2_500,
      maxConcurrent: 8,
      ...(resolve ? { resolve } : undefined),
    });

  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['localhost', 'localhost'],
    ['a short form', '127.1'],
    ['a number', '2130706433'],
    ['hexadecimal', '0x7f000001'],
    ['octal', '0177.0.0.1'],
    ['IPv6 loopback', '[::1]'],
    ['IPv4 in IPv6', '[::ffff:127.0.0.1]'],
    ['all of this host', '0.0.0.0'],
    ['the metadata service of a cloud', '169.254.169.254'],
    ['a private address', '10.0.0.1'],
  ])('by its address, %s, is sent not one byte (T-067, A12-01, A12-02)', async (_what, hostname) => {
    const url = new URL(`https://${hostname}:${port}/client.json`);
    expect(await faultOf(guarded()(url))).toBe('not_public');
    expect(connections).toBe(0);
  });

  it.each([
    ['a name of this machine', ['127.0.0.1']],
    ['a name of both', ['8.8.8.8', '127.0.0.1']],
    ['a name of both, the private one as IPv6', ['8.8.8.8', '::1']],
    ['a name of both, the private one mapped', ['2606:4700::1', '::ffff:10.0.0.1']],
  ])('by its name, %s, is sent not one byte (T-067, T-068)', async (_what, addresses) => {
    const url = new URL(`https://app.example.com:${port}/client.json`);
    expect(await faultOf(guarded(async () => addresses)(url))).toBe('not_public');
    expect(connections).toBe(0);
  });
});

describe('a name that changes its address', () => {
  it('is asked for once a fetch, and the address that was looked at is the one connected to (T-068)', async () => {
    host.publish('/pinned');
    const resolve = vi.fn(async () => (resolve.mock.calls.length === 1 ? ['127.0.0.1'] : ['10.0.0.1']));
    const fetch = guardedFetch({ resolve });
    expect(await faultOf(fetch(at('/pinned')))).toMatchObject({ status: 200 });
    expect(resolve).toHaveBeenCalledTimes(1);
    expect(await faultOf(fetch(at('/pinned')))).toBe('not_public');
    expect(host.requests).toEqual(['/pinned']);
  });

  it('is not reached by a connection from before: there is none that is used again (T-068)', async () => {
    host.publish('/again');
    const before = host.connections();
    const fetch = guardedFetch();
    for (let time = 0; time < 3; time++)
      expect(await faultOf(fetch(at('/again')))).toMatchObject({ status: 200 });
    expect(host.connections() - before).toBe(3);
  });

  it('is told to who wants to know before a byte is sent, and what that throws ends it (T-076)', async () => {
    host.publish('/budget');
    const before = host.connections();
    const seen: string[][] = [];
    const stop = new Error('no more');
    const fetching = guardedFetch()(at('/budget'), async (addresses) => {
      seen.push([...addresses]);
      throw stop;
    });
    await expect(fetching).rejects.toBe(stop);
    expect([seen, host.connections() - before]).toEqual([[['127.0.0.1']], 0]);
  });
});

describe('an answer', () => {
  it.each([301, 302, 303, 307, 308])(
    'with status %s is given as it is: nobody goes to its Location (T-070)',
    async (status) => {
      for (const location of [at('/elsewhere').href, 'http://127.0.0.1/', at('/moved').href]) {
        host.serve('/moved', (_request, response) =>
          response.writeHead(status, { location }).end('{"client_id":1}'),
        );
        const answer = await guardedFetch()(at('/moved'));
        expect([answer.status, answer.body.length]).toEqual([status, 0]);
      }
      expect(host.requests).toEqual(['/moved', '/moved', '/moved']);
    },
  );

  it('of 5,120 bytes is taken, one of 5,121 is not (T-071)', async () => {
    host.serve('/fits', (_request, response) => response.end(Buffer.alloc(5120, ' ')));
    host.serve('/large', (_request, response) => response.end(Buffer.alloc(5121, ' ')));
    expect(await faultOf(guardedFetch()(at('/fits')))).toMatchObject({ status: 200 });
    expect(await faultOf(guardedFetch()(at('/large')))).toBe('too_large');
  });

  it('that says it has a gigabyte is not read (T-071)', async () => {
    host.serve('/said', (_request, response) =>
      response.writeHead(200, { 'content-length': 1e9 }).write('{'),
    );
    expect(await faultOf(guardedFetch()(at('/said')))).toBe('too_large');
  });

  it('without a length, in chunks without an end, is left soon and does not fill the memory (T-071)', async () => {
    let written = 0;
    host.serve('/endless', (_request, response) => {
      const chunk = Buffer.alloc(16 * 1024, 'x');
      const write = (): void => {
        while (!response.destroyed && written < 1e9 && response.write(chunk)) written += chunk.length;
      };
      response.on('drain', write);
      write();
    });
    const before = process.memoryUsage.rss();
    expect(await faultOf(guardedFetch()(at('/endless')))).toBe('too_large');
    expect(written).toBeLessThan(50 * 1024 * 1024);
    expect(process.memoryUsage.rss() - before).toBeLessThan(100 * 1024 * 1024);
  });

  it('with a length that is a lie gives what the length says, or nothing (T-071)', async () => {
    host.serve('/short', (request) =>
      request.socket.end('HTTP/1.1 200 OK\r\nContent-Length: 4000\r\n\r\n{}'),
    );
    host.serve('/long', (request) =>
      request.socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}and more'),
    );
    expect(await faultOf(guardedFetch()(at('/short')))).toBe('unreachable');
    expect(await faultOf(guardedFetch()(at('/long')))).not.toMatchObject({ body: Buffer.from('{}and more') });
  });

  it.each([
    ['comes a byte at a time', (write: (text: string) => void) => write(' ')],
    ['never comes', () => undefined],
  ])('that %s is waited for so long and no longer, in all (T-071)', async (_what, tick) => {
    host.serve('/slow', (_request, response) => {
      response.writeHead(200);
      const timer = setInterval(() => tick((text) => response.write(text)), 20);
      response.on('close', () => clearInterval(timer));
    });
    const begun = performance.now();
    expect(await faultOf(guardedFetch({ timeoutMs: 300 })(at('/slow')))).toBe('timeout');
    expect(performance.now() - begun).toBeLessThan(1_500);
  });

  it('that is compressed is not unpacked (T-071)', async () => {
    host.serve('/bomb', (_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end('\x1f\x8b'),
    );
    expect(await faultOf(guardedFetch()(at('/bomb')))).toBe('encoded');
  });

  it('with headers without end is not read (T-071)', async () => {
    host.serve('/headers-bomb', (_request, response) =>
      response.writeHead(200, { 'x-long': 'x'.repeat(10_000) }).end('{}'),
    );
    expect(await faultOf(guardedFetch()(at('/headers-bomb')))).toBe('unreachable');
  });
});

describe('a host', () => {
  it.each([
    ['nobody vouches for', createCertificate(['app.example.com'])],
    ['is another', createCertificate(['other.example.com'])],
    ['has ended', createCertificate(['app.example.com'], true)],
  ])(
    'whose certificate %s is refused, whatever the environment says of that (T-071)',
    async (_what, certificate) => {
      vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
      onTestFinished(() => void vi.unstubAllEnvs());
      const bad = await hostForTest(certificate);
      bad.publish('/c');
      expect(await faultOf(guardedFetch()(new URL(`https://app.example.com:${bad.port}/c`)))).toBe(
        'certificate',
      );
      expect(bad.requests).toEqual([]);
    },
  );

  it('without an address, or where nothing listens, is unreachable', async () => {
    expect(await faultOf(guardedFetch({ resolve: async () => [] })(at('/')))).toBe('unreachable');
    expect(await faultOf(guardedFetch()(new URL('https://app.example.com:1/')))).toBe('unreachable');
  });

  it('whose name server is silent is waited for so long and no longer (T-071)', async () => {
    const fetch = guardedFetch({ resolve: () => new Promise(() => undefined), timeoutMs: 100 });
    expect(await faultOf(fetch(at('/')))).toBe('timeout');
  });

  it('is tried at its other address where one does not answer', async () => {
    host.publish('/both');
    const mayConnect = (address: string): boolean => address.startsWith('127.0.0.');
    const fetch = guardedFetch({ resolve: async () => ['127.0.0.77', '127.0.0.1'], mayConnect });
    expect(await faultOf(fetch(at('/both')))).toMatchObject({ status: 200 });
  });
});

describe('what is around the process', () => {
  it('is not used: no proxy, no global fetch, no dispatcher or agent of somebody else (T-069)', async () => {
    const proxied: string[] = [];
    const proxy = createServer((socket) => {
      proxied.push('connection');
      socket.destroy();
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => new Promise((resolve) => proxy.close(() => resolve())));
    const address = `http://127.0.0.1:${(proxy.address() as { port: number }).port}`;
    for (const name of ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'ALL_PROXY']) vi.stubEnv(name, address);
    vi.stubEnv('NODE_USE_ENV_PROXY', '1');
    vi.stubGlobal('fetch', () => Promise.reject(new Error('the global fetch was used')));
    onTestFinished(() => {
      vi.unstubAllEnvs();
      vi.unstubAllGlobals();
    });
    host.publish('/direct');
    expect(await faultOf(guardedFetch()(at('/direct')))).toMatchObject({ status: 200 });
    expect(proxied).toEqual([]);
  });

  it('is asked so much at once and no more: the next has to come again (T-076)', async () => {
    const waiting: (() => void)[] = [];
    host.serve('/held', (_request, response) => void waiting.push(() => response.end('{}')));
    host.publish('/free');
    const fetch = guardedFetch({ maxConcurrent: 2 });
    const held = [fetch(at('/held')), fetch(at('/held')), fetch(at('/held'))];
    await vi.waitFor(() => expect(waiting).toHaveLength(1));
    expect(await faultOf(fetch(at('/free')))).toBe('busy');
    for (const count of [1, 2, 3]) {
      await vi.waitFor(() => expect(waiting).toHaveLength(count));
      waiting[count - 1]?.();
    }
    await Promise.all(held);
    expect(await faultOf(fetch(at('/free')))).toMatchObject({ status: 200 });
  });

  it('by one caller, who names slow hosts, keeps no fetch of another caller out (FA-06, T-206)', async () => {
    const waiting: (() => void)[] = [];
    host.serve('/slow', (_request, response) => void waiting.push(() => response.end('{}')));
    host.publish('/quick');
    const fetch = guardedFetch({ maxConcurrent: 8, timeoutMs: 60_000 });
    const slow = (number: number): URL =>
      new URL(at('/slow').href.replace('app.example.com', ['localhost', '127.0.0.1'][number % 2] ?? ''));
    const crowd = Array.from({ length: 40 }, (_, number) =>
      faultOf(fetch(slow(number), undefined, 'one address')),
    );
    const others = Array.from({ length: 4 }, (_, number) =>
      faultOf(fetch(at('/quick'), undefined, `address ${number}`)),
    );
    for (const other of others) expect(await other).toMatchObject({ status: 200 });
    for (const count of [2, 4, 6, 8, 10]) {
      await vi.waitFor(() => expect(waiting).toHaveLength(count));
      for (const end of waiting) end();
    }
    expect((await Promise.all(crowd)).filter((fault) => fault === 'busy')).toHaveLength(30);
  });
});

const HTTPS_PROXY = 'http://proxy.example:3128';

describe('a process', () => {
  it.each([
    [{ HTTPS_PROXY, NODE_USE_ENV_PROXY: '1' }, [], 'HTTPS_PROXY'],
    [{ https_proxy: HTTPS_PROXY, NODE_USE_ENV_PROXY: 'true' }, [], 'https_proxy'],
    [{ HTTP_PROXY: HTTPS_PROXY }, ['--use-env-proxy'], 'HTTP_PROXY'],
    [{ HTTPS_PROXY, NODE_OPTIONS: '--enable-source-maps --use-env-proxy' }, [], 'HTTPS_PROXY'],
  ])('with %j and %j was told to use a proxy (T-069)', (env, execArgv, name) => {
    expect(demandedProxy({ env, execArgv })).toBe(name);
  });

  it.each([
    [{}, []],
    [{ HTTPS_PROXY }, []],
    [{ HTTPS_PROXY, NODE_USE_ENV_PROXY: '0' }, []],
    [{ NODE_USE_ENV_PROXY: '1' }, ['--use-env-proxy']],
  ])('with %j and %j was not: Node.js itself would use none (T-069)', (env, execArgv) => {
    expect(demandedProxy({ env, execArgv })).toBeUndefined();
  });
});
