import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import compose from 'koa-compose';
import { describe, expect, it, onTestFinished } from 'vitest';
import { keepDocument } from '../../../src/authorization-server/endpoints/metadata-documents.ts';

/** Serves a document that says how often it was put together; a path `/503` fails. */
async function serveDocument(current: () => unknown = () => undefined) {
  let built = 0;
  const app = new Koa().use(
    compose([
      keepDocument(current),
      async (ctx) => {
        built++;
        ctx.status = ctx.path === '/503' ? 503 : 200;
        ctx.body = { issuer: 'https://ü.example.com', built };
      },
    ]),
  );
  const server = app.listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return async (path: string, method = 'GET') => {
    const response = await fetch(`${url}${path}`, { method });
    const headers = ['content-type', 'content-length'].map((name) => response.headers.get(name));
    return [response.status, ...headers, await response.text()];
  };
}

describe('a document that is the same for everybody', () => {
  it('is put together once, and goes out again and again as it went out first', async () => {
    const ask = await serveDocument();
    const first = await ask('/');
    expect(first).toEqual([
      200,
      'application/json; charset=utf-8',
      '45',
      '{"issuer":"https://ü.example.com","built":1}',
    ]);
    expect(await ask('/')).toEqual(first);
    expect(await ask('/', 'HEAD')).toEqual([...first.slice(0, 3), '']);
  });

  it('is put together anew when what it follows from has changed', async () => {
    let from = {};
    const ask = await serveDocument(() => from);
    await ask('/');
    from = {};
    expect((await ask('/'))[3]).toContain('"built":2');
    expect((await ask('/'))[3]).toContain('"built":2');
  });

  it('is not kept from a request that failed, nor from one without a body', async () => {
    const ask = await serveDocument();
    await ask('/503');
    await ask('/', 'HEAD');
    expect((await ask('/'))[3]).toContain('"built":3');
  });
});
