import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { accountMark } from '../../../src/crypto/secret.ts';
import { createOperatorFetch } from '../../../src/net/operator-fetch.ts';
import {
  ApiRefusal,
  createCallerApi,
  type MissingAtUpstream,
  readApiAddress,
  readApiRequest,
} from '../../../src/upstream/tools/caller-api.ts';
import type { CallerTokenAnswer } from '../../../src/upstream/tools/caller-tokens.ts';
import type { Upstream } from '../../../src/upstream/upstream.ts';
import { authInfoWith } from '../../mcp/support/auth-info.ts';

const caller = { ...authInfoWith(), subject: 'ann' };
const tokenOf = (generation: number) => ({ accessToken: `canary-${generation}`, scopes: [], generation });

/** Starts an API for one test. */
async function startApi(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Calls of tools to an API; `tokens` gives what is held, generation by generation asked for. */
function apiOver(url: string, tokens: (after: number | undefined) => CallerTokenAnswer = () => tokenOf(1)) {
  const asked: unknown[] = [];
  const work = {
    name: 'work',
    label: 'Work',
    settings: { apiHosts: [new URL(url).host] },
  } as unknown as Upstream;
  const api = createCallerApi({
    upstreams: { all: [work], find: (name) => (name === 'work' ? work : undefined) },
    tokens: {
      async token(accountId, upstream, wishes) {
        asked.push([accountId, upstream, wishes]);
        return tokens(wishes.after);
      },
      holds: async () => typeof tokens(undefined) === 'object',
    },
    fetchOf: () =>
      createOperatorFetch({ allowPrivateNetwork: false, dangerouslyFromLoopback: true, redirects: 'given' }),
    dangerouslyFromLoopback: true,
    accountUrl: 'https://gate.example/account',
  });
  const call = (path: string, init: RequestInit = {}, more: object = {}) =>
    api.call({ caller, upstream: 'work', url: `${url}${path}`, init, scopes: [], patienceMs: 0, ...more });
  return { api, call, asked };
}

/** The answer of an API, for sure. */
async function answered(call: Promise<Response | MissingAtUpstream>): Promise<Response> {
  const answer = await call;
  if (answer instanceof Response) return answer;
  throw new Error(`no answer, but missing: ${answer.missing}`);
}

describe('a call to the API of an upstream', () => {
  it('has the token of its caller, whatever Authorization the tool gave, and any method and body', async () => {
    const url = await startApi(async ({ method, headers, url: path }, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify([method, path, headers.authorization, headers['x-a']]));
    });
    const { call, asked } = apiOver(url);
    const headers = { authorization: 'Bearer other', 'x-a': 'b' };
    const answer = await answered(
      call('/me?a=b', { method: 'PATCH', headers, body: 'x' }, { scopes: ['s'] }),
    );
    expect(await answer.json()).toEqual(['PATCH', '/me?a=b', 'Bearer canary-1', 'b']);
    expect(asked).toEqual([['ann', 'work', { scopes: ['s'] }]]);
  });

  it('is sent once more with a renewed token where the API answers 401, body and all', async () => {
    const seen: unknown[] = [];
    const url = await startApi(async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString();
      seen.push([request.headers.authorization, body]);
      response.statusCode = request.headers.authorization === 'Bearer canary-2' ? 200 : 401;
      response.end();
    });
    const { call } = apiOver(url, (after) => tokenOf(after === 1 ? 2 : 1));
    const answer = await answered(call('/', { method: 'POST', body: 'payload' }));
    expect([answer.status, seen]).toEqual([
      200,
      [
        ['Bearer canary-1', 'payload'],
        ['Bearer canary-2', 'payload'],
      ],
    ]);
  });

  it.each([
    ['a renewed one too', (after: number | undefined) => tokenOf((after ?? 0) + 1), 2],
    ['one that the upstream stands by', () => tokenOf(1), 1],
  ])(
    'fails with what to do where the API refuses %s, and without the token (T-093)',
    async (_which, tokens, times) => {
      let count = 0;
      const url = await startApi(({ headers }, response) => {
        count++;
        response
          .writeHead(401, { 'www-authenticate': String(headers.authorization) })
          .end(headers.authorization);
      });
      const error = await apiOver(url, tokens)
        .call('/')
        .catch((refused: unknown) => refused);
      expect(error).toMatchObject({
        reason: 'token_refused',
        message: expect.stringContaining(
          `Link it again: https://gate.example/account/upstreams/work/link/${accountMark('ann')}`,
        ),
      });
      expect([count, JSON.stringify(error), String(error)].join()).not.toContain('canary');
      expect(count).toBe(times);
    },
  );

  it('says what is missing and where the person gives it', async () => {
    const url = await startApi((_request, response) => response.end());
    const expected = {
      upstream: 'work',
      label: 'Work',
      url: `https://gate.example/account/upstreams/work/link/${accountMark('ann')}`,
      accountId: 'ann',
      scopes: ['s'],
    };
    for (const [answer, missing] of [
      ['needs_link', 'link'],
      ['needs_scopes', 'scopes'],
    ] as const)
      expect(await apiOver(url, () => answer).call('/', {}, { scopes: ['s'] })).toEqual({
        ...expected,
        missing,
      });
  });

  it('waits for a person who is linking just now, as long as it may', async () => {
    const url = await startApi((_request, response) => response.end('got in'));
    let looks = 0;
    const { call } = apiOver(url, () => (++looks < 3 ? 'needs_link' : tokenOf(1)));
    expect(await (await answered(call('/', {}, { patienceMs: 10_000 }))).text()).toBe('got in');
    expect(await apiOver(url, () => 'needs_link').call('/', {}, { patienceMs: 600 })).toMatchObject({
      missing: 'link',
    });
  });

  it('follows redirects within the host, and takes the token to no other (T-093)', async () => {
    const elsewhere: unknown[] = [];
    const other = await startApi(({ headers }, response) => {
      elsewhere.push(headers.authorization);
      response.end();
    });
    const url = await startApi((request, response) => {
      const to = { '/a': '/b', '/b': '/c', '/out': `${other}/`, '/round': '/round' }[String(request.url)];
      if (to === undefined) response.end(`at ${request.url}`);
      else response.writeHead(302, { location: to }).end();
    });
    const { call } = apiOver(url);
    expect(await (await answered(call('/a'))).text()).toBe('at /c');
    const out = await answered(call('/out'));
    expect([out.status, out.headers.get('location'), elsewhere]).toEqual([302, `${other}/`, []]);
    expect((await answered(call('/round'))).status).toBe(302);
    expect((await answered(call('/a', { method: 'POST', body: '' }))).status).toBe(302);
  });

  it('ends with the call of the tool, or by the signal the tool gave', async () => {
    const url = await startApi(() => undefined);
    const { call } = apiOver(url);
    for (const given of ['call', 'init'] as const) {
      const stop = new AbortController();
      const { signal } = stop;
      setTimeout(() => stop.abort(), 50);
      const calling = given === 'call' ? call('/', {}, { signal }) : call('/', { signal });
      await expect(calling).rejects.toMatchObject({ name: 'AbortError' });
    }
  });

  it('is refused with a reason, and nothing is sent', async () => {
    let count = 0;
    const url = await startApi((_request, response) => response.end(String(++count)));
    const { call } = apiOver(url);
    for (const [more, reason, message] of [
      [{ upstream: 'wrok' }, 'upstream_unknown', 'There are: work.'],
      [{ caller: { ...caller, subject: caller.clientId } }, 'no_person', 'acts for itself'],
      [{ url: 'https://evil.example/' }, 'url_not_allowed', 'upstreams.work.apiHosts'],
    ] as const)
      await expect(call('/', {}, more)).rejects.toMatchObject({
        reason,
        message: expect.stringContaining(message),
      });
    expect(count).toBe(0);
  });

  it('says that the upstream or its API does not answer', async () => {
    const url = await startApi((request) => request.socket.destroy());
    await expect(apiOver(url).call('/')).rejects.toMatchObject({ reason: 'api_unreachable' });
    await expect(apiOver(url, () => 'unavailable').call('/')).rejects.toMatchObject({
      reason: 'upstream_unavailable',
      message: 'Work does not answer just now. Try again in a minute.',
    });
  });
});

describe('api address', () => {
  const addresses = {
    name: 'work',
    apiHosts: ['api.example.com', 'files.example.com:8443', 'other.example.com:443', '127.0.0.1:3000'],
    dangerouslyFromLoopback: false,
  };

  describe('the address of an API', () => {
    it.each([
      'https://api.example.com/me?a=b',
      'https://API.example.com:443/me',
      'https://files.example.com:8443/',
      'https://other.example.com/',
    ])('may be on a host of the upstream: %s', (url) => {
      expect(readApiAddress(url, addresses).href).toBe(new URL(url).href);
    });

    it.each([
      ['https://evil.example/', /upstreams\.work\.apiHosts/],
      ['https://api.example.com.evil.example/', /apiHosts/],
      ['https://sub.api.example.com/', /apiHosts/],
      ['https://api.example.com:8443/', /apiHosts/],
      ['https://files.example.com/', /apiHosts/],
      ['https://api.example.com@evil.example/', /user name/],
      ['https://user:word@api.example.com/', /user name/],
      ['http://api.example.com/', /not https/],
      ['http://127.0.0.1:3000/', /not https/],
      ['ftp://api.example.com/', /not https/],
      ['/me', /no absolute URL/],
      ['//api.example.com/me', /no absolute URL/],
    ])('is on no other host, and always https (T-093): %s', (url, message) => {
      expect(() => readApiAddress(url, addresses)).toThrow(message);
    });

    it('may be this very machine without https where that was allowed, on a host of the upstream', () => {
      const loose = { ...addresses, dangerouslyFromLoopback: true };
      expect(readApiAddress('http://127.0.0.1:3000/me', loose).port).toBe('3000');
      expect(() => readApiAddress('http://127.0.0.1:3001/me', loose)).toThrow('apiHosts');
      expect(() => readApiAddress('http://api.example.com/', loose)).toThrow('not https');
    });
  });
});

describe('api refusal', () => {
  test('a refusal has a stable reason beside its sentence', () => {
    const cause = new Error('the cause');
    const refusal = new ApiRefusal('api_unreachable', 'Say it.', { cause });
    expect([refusal.name, refusal.reason, refusal.message, refusal.cause]).toEqual([
      'ApiRefusal',
      'api_unreachable',
      'Say it.',
      cause,
    ]);
  });
});

describe('what a tool sends to an API', () => {
  it('is a GET without a body unless the tool says otherwise', async () => {
    expect(await readApiRequest({})).toEqual({ method: 'GET', headers: new Headers() });
  });

  it.each([
    ['text', 'a word', 'a word', 'text/plain;charset=UTF-8'],
    ['a form', new URLSearchParams({ a: 'b c' }), 'a=b+c', 'application/x-www-form-urlencoded;charset=UTF-8'],
    ['bytes', new Uint8Array([104, 105]), 'hi', null],
    ['a stream', new Blob(['streamed']).stream(), 'streamed', null],
  ] as const)('has its body whole, so that it can be sent again: %s', async (_kind, body, sent, type) => {
    const { method, headers, body: whole } = await readApiRequest({ method: 'put', body });
    expect([method, Buffer.from(whole ?? []).toString(), headers.get('content-type')]).toEqual([
      'PUT',
      sent,
      type,
    ]);
  });

  it('has the content type the tool gave, and no Authorization of the tool', async () => {
    const { headers } = await readApiRequest({
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json', authorization: 'Bearer of the tool', 'x-a': 'b' },
    });
    expect(Object.fromEntries(headers)).toEqual({ 'content-type': 'application/json', 'x-a': 'b' });
  });

  it('names no host of the tool, and is framed by nobody else: the certificate asked for would be that of another (T-093)', async () => {
    const given = {
      host: 'evil.example',
      connection: 'upgrade',
      upgrade: 'h2c',
      'content-length': '3',
      'transfer-encoding': 'chunked',
      'proxy-authorization': 'Basic x',
      accept: 'text/plain',
    };
    const { headers } = await readApiRequest({ method: 'POST', body: new Uint8Array(9), headers: given });
    expect(Object.fromEntries(headers)).toEqual({ accept: 'text/plain' });
  });

  it('is not too large', async () => {
    const body = new Uint8Array(16 * 1024 * 1024 + 1);
    await expect(readApiRequest({ method: 'POST', body })).rejects.toMatchObject({
      reason: 'body_not_allowed',
    });
  });
});
