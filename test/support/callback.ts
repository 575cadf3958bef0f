import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A client's listener on loopback, with every answer that arrived. */
export interface Callback {
  url: string;
  arrived: URL[];
  stop(): Promise<void>;
}

/** Starts a listener that remembers what the browser brings it. */
export async function startCallback(): Promise<Callback> {
  const arrived: URL[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (url.pathname === '/callback') arrived.push(url);
    response.setHeader('content-type', 'text/html');
    response.end('<!DOCTYPE html><title>Back in the app</title><p>Back in the app.</p>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    arrived,
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
