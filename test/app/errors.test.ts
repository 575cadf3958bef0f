import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa, { type Context } from 'koa';
import { describe, expect, it, onTestFinished } from 'vitest';
import { answerErrors, answerNotFound } from '../../src/app/errors.ts';
import { buildFailurePage } from '../../src/authorization-server/index.ts';
import { TokenStatusUnknown } from '../../src/oauth/auth-info.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { StorageUnavailable } from '../../src/storage/storage.ts';

/** What a browser accepts that opens a page. */
const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

/** Serves one handler behind the error step; gives what a client sees and what is logged. */
async function serve(
  handler: (ctx: Context) => unknown,
  request: { path?: string; accept?: string } = {},
): Promise<{ response: Response; text: string; log: string }> {
  const lines: string[] = [];
  const app = new Koa();
  app.use(async (ctx, next) => {
    ctx.state.requestId = 'request-1';
    await next();
  });
  app.use(
    answerErrors({
      logger: createLogger('debug', (line) => lines.push(line)),
      renderErrorPage: buildFailurePage,
      isForPrograms: (path) => path === '/mcp',
    }),
  );
  app.use(handler);
  const server = createServer(app.callback());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve())));
  const response = await fetch(
    `http://127.0.0.1:${(server.address() as AddressInfo).port}${request.path ?? '/'}`,
    {
      redirect: 'manual',
      headers: { accept: request.accept ?? '*/*' },
    },
  );
  return { response, text: await response.text(), log: lines.join('') };
}

describe('an error', () => {
  it('that nobody foresaw is 500: the client learns the request id, the log the reason (T-196, T-199)', async () => {
    const { response, text, log } = await serve(() => {
      throw new TypeError('SELECT secret FROM /var/lib/gatehouse.db');
    });
    expect(response.status).toBe(500);
    expect(JSON.parse(text)).toEqual({
      error: 'server_error',
      error_description: 'The server failed. Its log has the reason under request request-1.',
    });
    expect(log).toContain('SELECT secret FROM');
    expect(log).toContain('request-1');
  });

  it.each([
    ['a thing that is no error', 'a string'],
    ['an error that claims a status without being meant for the client', { status: 400, message: 'inner' }],
    ['an error that is exposed with a status of ours', { status: 500, expose: true, message: 'inner' }],
    ['a redirecting status', { status: 302, expose: true, message: 'inner' }],
  ])('like %s is 500 and not told (T-196)', async (_what, thrown) => {
    const { response, text } = await serve(() => {
      throw thrown;
    });
    expect(response.status).toBe(500);
    expect(text).not.toContain('inner');
  });

  it('that was meant for the client is told to it', async () => {
    const { response, text } = await serve((ctx) => ctx.throw(414, 'The request is too long.'));
    expect(response.status).toBe(414);
    expect(JSON.parse(text)).toEqual({
      error: 'invalid_request',
      error_description: 'The request is too long.',
    });
  });

  it('of the database is 503 with the time to wait, and no word of the cause (T-196)', async () => {
    const { response, text, log } = await serve(() => {
      throw new StorageUnavailable('database is locked', { cause: new Error('SQLITE_BUSY at /var/lib') });
    });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
    expect(JSON.parse(text)).toMatchObject({ error: 'temporarily_unavailable' });
    expect(text).not.toMatch(/SQLITE|locked|var/);
    expect(log).toContain('SQLITE_BUSY');
  });

  it('of a token that nobody can tell about is 503 with its own time to wait, and no word of the cause (T-196)', async () => {
    const { response, text, log } = await serve(() => {
      throw new TokenStatusUnknown('The identity provider does not answer.', 9, {
        cause: new Error('inner'),
      });
    });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '9']);
    expect(JSON.parse(text)).toEqual({
      error: 'temporarily_unavailable',
      error_description: 'The identity provider does not answer.',
    });
    expect(text).not.toContain('inner');
    expect(log).toContain('inner');
  });

  it('lets through nothing that the step before it had prepared: no redirect, no cookie, nothing to be stored', async () => {
    const { response } = await serve((ctx) => {
      ctx.redirect('https://client.example/cb?code=secret');
      ctx.set('Cache-Control', 'public, max-age=300');
      ctx.cookies.set('session', 'secret');
      throw new Error('late');
    });
    expect([response.status, response.headers.get('location')]).toEqual([500, null]);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.getSetCookie()).toEqual([]);
  });

  it.each([
    [500, new Error('inner'), null],
    [503, new StorageUnavailable('inner'), '2'],
  ])(
    'of status %i is a page in a browser, with the headers of pages (T-017, T-196)',
    async (status, thrown, wait) => {
      const { response, text } = await serve(
        () => {
          throw thrown;
        },
        { accept: browser },
      );
      expect([response.status, response.headers.get('retry-after')]).toEqual([status, wait]);
      expect(response.headers.get('content-type')).toMatch(/^text\/html/);
      expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(response.headers.get('x-frame-options')).toBe('DENY');
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(text).toContain('request-1');
      expect(text).not.toContain('inner');
    },
  );

  it.each([
    ['at the MCP endpoint', { path: '/mcp', accept: browser }],
    ['where JSON is taken', { accept: 'application/json, text/html' }],
    ['where anything is taken', { accept: '*/*' }],
  ])('%s is JSON', async (_where, request) => {
    const { response } = await serve(() => {
      throw new Error('inner');
    }, request);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
  });
});

describe('a path that is not ours', () => {
  const notFound = answerNotFound({
    renderErrorPage: buildFailurePage,
    isForPrograms: (path) => path === '/mcp',
  });

  it.each([
    ['for programs', {}],
    ['for discovery probes, whatever they accept', { path: '/.well-known/nothing', accept: browser }],
    ['for discovery below a path', { path: '/base/.well-known/nothing', accept: browser }],
  ])('is 404 in JSON %s', async (_who, request) => {
    const { response, text } = await serve(notFound, request);
    expect([response.status, JSON.parse(text)]).toMatchObject([404, { error: 'not_found' }]);
  });

  it('is a page with 404 for a person’s browser', async () => {
    const { response, text } = await serve(notFound, { path: '/acount', accept: browser });
    expect([response.status, response.headers.get('content-type')]).toEqual([
      404,
      'text/html; charset=utf-8',
    ]);
    expect(text).toContain('There is no such page');
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  });
});
