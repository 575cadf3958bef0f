import { describe, expect, it } from 'vitest';
import type { Fault } from '../support/server.ts';
import { openMcp, seen } from './open-server.ts';

/** Headers of requests are lost before they reach the server. */
const loses =
  (name: string, before: Fault = () => undefined): Fault =>
  (server) => {
    before(server);
    for (const route of ['POST /mcp', 'GET /mcp']) {
      const sound = server.routes[route];
      if (sound)
        server.routes[route] = (request) =>
          sound({ ...request, headers: { ...request.headers, [name]: undefined } });
    }
  };

describe('PROXY-AUTHORIZATION', () => {
  it('passes where a token nobody issued is refused as one', async () => {
    expect(await seen('PROXY-AUTHORIZATION')).toMatchObject({
      verdict: 'pass',
      saw: expect.stringContaining('invalid_token'),
    });
  });

  it('suspects a loss without a login, and is sure with one', async () => {
    const fault = loses('authorization');
    expect(await seen('PROXY-AUTHORIZATION', fault)).toMatchObject({ verdict: 'warn' });
    const found = await seen('PROXY-AUTHORIZATION', fault, { accessToken: async () => 'good' });
    expect(found).toMatchObject({ verdict: 'fail', saw: expect.stringContaining('as if there were none') });
    expect(found.hints?.find(({ product }) => product === 'apache')?.lines).toContain('CGIPassAuth On');
    expect(JSON.stringify(found)).not.toContain('Bearer good');
  });

  it('cannot tell at a server that asks for no token', async () => {
    expect(await seen('PROXY-AUTHORIZATION', openMcp())).toMatchObject({ verdict: 'unknown' });
  });
});

describe('PROXY-WWW-AUTHENTICATE', () => {
  it('finds a 401 without it', async () => {
    const found = await seen('PROXY-WWW-AUTHENTICATE', (server) =>
      server.change('POST /mcp', (reply) => ({ ...reply, headers: {} })),
    );
    expect(found).toMatchObject({
      verdict: 'fail',
      saw: expect.stringContaining('although the server publishes'),
    });
    expect(await seen('PROXY-WWW-AUTHENTICATE')).toMatchObject({ verdict: 'pass' });
  });
});

describe('PROXY-ACCEPT', () => {
  it('finds a request that is refused for what it accepts', async () => {
    const found = await seen('PROXY-ACCEPT', (server) => {
      server.routes['POST /mcp'] = () => ({ status: 406, json: {} });
    });
    expect(found).toMatchObject({ verdict: 'fail', saw: expect.stringContaining('406') });
  });

  it('passes where it is served, and cannot tell without a login', async () => {
    expect(await seen('PROXY-ACCEPT', openMcp())).toMatchObject({ verdict: 'pass' });
    expect(await seen('PROXY-ACCEPT')).toMatchObject({
      verdict: 'unknown',
      saw: expect.stringContaining('login'),
    });
  });
});

describe('PROXY-SESSION-ID', () => {
  it('finds the loss in requests and in answers', async () => {
    const inRequests = await seen('PROXY-SESSION-ID', loses('mcp-session-id', openMcp()));
    expect(inRequests).toMatchObject({
      verdict: 'fail',
      saw: expect.stringContaining('refused (status 400)'),
    });
    const inAnswers = await seen('PROXY-SESSION-ID', (server) => {
      openMcp()(server);
      server.change('POST /mcp', (reply) => ({ ...reply, headers: {} }));
    });
    expect(inAnswers).toMatchObject({
      verdict: 'fail',
      saw: expect.stringContaining('brought no Mcp-Session-Id'),
    });
  });

  it('passes with sessions and without', async () => {
    expect(await seen('PROXY-SESSION-ID', openMcp())).toMatchObject({ verdict: 'pass' });
    const without = await seen('PROXY-SESSION-ID', (server) => {
      server.routes['POST /mcp'] = () => ({ json: { jsonrpc: '2.0', id: 'doctor', result: {} } });
    });
    expect(without.saw).toContain('without sessions');
  });
});

describe('PROXY-PROTOCOL-VERSION', () => {
  it('finds that a revision which does not exist is served', async () => {
    const found = await seen('PROXY-PROTOCOL-VERSION', loses('mcp-protocol-version', openMcp()));
    expect(found).toMatchObject({ verdict: 'warn', saw: expect.stringContaining('status 200') });
    expect(await seen('PROXY-PROTOCOL-VERSION', openMcp())).toMatchObject({ verdict: 'pass' });
  });
});

describe('PROXY-LAST-EVENT-ID', () => {
  it('passes where an event that does not exist is refused; else nobody can tell', async () => {
    expect(await seen('PROXY-LAST-EVENT-ID', openMcp())).toMatchObject({ verdict: 'pass' });
    const lost = await seen('PROXY-LAST-EVENT-ID', loses('last-event-id', openMcp()));
    expect(lost).toMatchObject({ verdict: 'unknown' });
  });
});

describe('PROXY-CACHING', () => {
  it.each([
    ['age', '17'],
    ['x-cache', 'HIT from edge'],
    ['cf-cache-status', 'HIT'],
  ])('finds a refusal out of a cache by %s: %s', async (name, value) => {
    const found = await seen('PROXY-CACHING', (server) =>
      server.change('GET /mcp', (reply) => ({ ...reply, headers: { ...reply.headers, [name]: value } })),
    );
    expect(found).toMatchObject({ verdict: 'fail', saw: expect.stringContaining('came from a cache') });
  });

  it('finds a cache that says nothing, by what it mixes up', async () => {
    const found = await seen('PROXY-CACHING', (server) => {
      const sound = server.routes['GET /mcp'];
      let kept: unknown;
      if (sound)
        server.routes['GET /mcp'] = async (request) => {
          kept ??= await sound(request);
          return kept as object;
        };
    });
    expect(found).toMatchObject({ verdict: 'fail', saw: expect.stringContaining('a cache gave it') });
  });

  it('warns of metadata kept for nobody knows how long', async () => {
    const found = await seen('PROXY-CACHING', (server) =>
      server.change('GET /.well-known/oauth-protected-resource/mcp', (reply) => ({
        ...reply,
        headers: { age: '9' },
      })),
    );
    expect(found.verdict).toBe('warn');
  });

  it('passes without a cache', async () => {
    expect(await seen('PROXY-CACHING')).toMatchObject({ verdict: 'pass' });
  });
});
