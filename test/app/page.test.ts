import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sendPage, wantsPage } from '../../src/app/page.ts';

const server = createServer(
  new Koa()
    .use((ctx) => {
      if (wantsPage(ctx)) sendPage(ctx, { headers: { 'X-Frame-Options': 'DENY' }, html: '<p>page</p>' });
      else ctx.body = {};
    })
    .callback(),
);
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => void server.close());

const answerTo = (accept: string) =>
  fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, { headers: { accept } });

it.each(['text/html', 'text/html,application/xhtml+xml,*/*;q=0.8', 'application/json;q=0.5, text/html'])(
  'a page goes to whoever prefers HTML, with its headers: %s',
  async (accept) => {
    const response = await answerTo(accept);
    expect(await response.text()).toBe('<p>page</p>');
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect([response.headers.get('x-frame-options'), response.headers.get('vary')]).toEqual([
      'DENY',
      'Accept, Accept-Language',
    ]);
  },
);

it.each([
  '*/*',
  'application/json',
  'application/json, text/html',
  'application/json, text/event-stream',
  'image/png',
])('no page goes to a program: %s', async (accept) => {
  expect(await (await answerTo(accept)).json()).toEqual({});
});
