import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { expect, it, onTestFinished } from 'vitest';
import { StandingUnknown } from '../../src/oauth/standing-unknown.ts';

it('a token nobody can tell about is 503 with the time to wait in any Koa app, and no word of the cause', async () => {
  const app = new Koa();
  app.silent = true;
  app.use(() => {
    throw new StandingUnknown('Try again later.', 7, { cause: new Error('ECONNREFUSED 10.0.0.1') });
  });
  const server = createServer(app.callback()).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '7']);
  expect(await response.text()).toBe('Try again later.');
});
