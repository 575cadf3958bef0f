// Flows of src/app/origins.ts: a gatehouse in a Koa app of somebody else.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import mount from 'koa-mount';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGatehouse } from '../../../src/index.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { startGatehouse } from '../../support/gatehouse.ts';
import { obtainTokens, tryAccess } from '../../support/oauth.ts';

/** Serves a Koa app, and a gatehouse mounted in it over the data of another one. */
async function startMounted(outer: Koa) {
  const data = await startGatehouse();
  onTestFinished(() => data.stop());
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://localhost:${(server.address() as AddressInfo).port}`;
  const { storage, keys, keyRing } = data;
  const gatehouse = await createGatehouse({
    publicUrl: url,
    storage,
    keys,
    keyRing,
    logger: createLogger('error', () => {}),
    dangerously: { trustOtherPorts: true },
  });
  outer.use(mount('/', gatehouse.app));
  server.on('request', outer.callback());
  onTestFinished(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await gatehouse.close();
    await closed;
  });
  return { url: gatehouse.issuer, mcpUrl: gatehouse.mcpUrl };
}

describe('mounted at the root of a Koa app', () => {
  it.each([
    ['without keys', () => new Koa()],
    ['with keys of its own', () => Object.assign(new Koa(), { keys: ['the key of somebody else'] })],
    [
      'that reads cookies before',
      () => {
        const outer = new Koa();
        outer.use((ctx, next) => {
          ctx.set('X-Visits', ctx.cookies.get('visits') ?? '0');
          return next();
        });
        return outer;
      },
    ],
  ])('%s, a person logs in, and a client calls (FA-36)', async (_which, create) => {
    const mounted = await startMounted(create());
    const { tokens } = await obtainTokens(mounted);
    expect(await tryAccess(mounted.mcpUrl, tokens.access_token)).toBe(200);
  });

  it('leaves the app and the cookies of the outer steps as they were (FA-36)', async () => {
    const outer = Object.assign(new Koa(), { keys: ['the key of somebody else'] });
    const seen: unknown[] = [];
    outer.use(async (ctx, next) => {
      const { cookies } = ctx;
      await next();
      seen.push(ctx.app === outer, ctx.request.app === outer, ctx.cookies === cookies);
    });
    const { url } = await startMounted(outer);
    expect((await fetch(url, { headers: { accept: 'text/html' } })).status).toBe(200);
    expect(seen).toEqual([true, true, true]);
  });
});
