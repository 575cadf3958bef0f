import type { RequestListener, Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Logger } from '../observability/logger.ts';

/** Longer than the idle time of proxies in front, so that they, not we, close idle connections. */
const keepAliveTimeoutMs = 75_000;

/** How long a request may take to come in, in milliseconds. */
const requestTimeoutMs = 60_000;

/** Servers that have a listener of ours: a second one would answer every request once more. */
const attached = new WeakSet<Server>();

/**
 * Serves a Node HTTP server, and readies its time limits for long streams and proxies. A listener that it has already is
 * warned of: both would answer each request.
 * @throws TypeError for what is no server, such as an app of Express or Koa; Error for one that was attached before
 */
export function attachTo(server: Server, listener: RequestListener, logger: Pick<Logger, 'warn'>): void {
  if (!(server instanceof NetServer))
    throw new TypeError(
      'attach takes a Node HTTP server, which createServer() of node:http gives. Within an app of Express, use app.callback() of the gatehouse.',
    );
  if (attached.has(server)) throw new Error('This HTTP server is attached already.');
  if (server.listenerCount('request') > 0)
    logger.warn(
      'the HTTP server has a listener for requests of its own, which answers what is meant for the gatehouse: attach a server without one, or call app.callback() of the gatehouse from it',
    );
  attached.add(server);
  server.keepAliveTimeout = keepAliveTimeoutMs;
  server.requestTimeout = requestTimeoutMs;
  server.on('request', listener);
}
