import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { accountMark } from '../../../src/crypto/secret.ts';
import { createOperatorFetch } from '../../../src/net/operator-fetch.ts';
import { createCallerApi, type MissingAtUpstream } from '../../../src/upstream/tools/caller-api.ts';
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
