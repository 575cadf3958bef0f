import { createServer, type RequestListener, type ServerOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa, { type Middleware } from 'koa';
import { onTestFinished } from 'vitest';

/** Serves middleware of ours on a real socket until the test ends; gives its URL. */
export async function serveSteps(steps: readonly Middleware[], options: ServerOptions = {}): Promise<string> {
  const app = new Koa();
  for (const step of steps) app.use(step);
  return serveListener(app.callback(), options);
}

/** Serves a listener on a real socket until the test ends; gives its URL. */
export async function serveListener(listener: RequestListener, options: ServerOptions = {}): Promise<string> {
  const server = createServer(options, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(() => resolve()));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
