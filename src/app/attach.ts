import type { RequestListener, Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Logger } from '../observability/logger.ts';

/** Longer than the idle time of proxies in front, so that they, not we, close idle connections. */
const keepAliveTimeoutMs = 75_000;

/** How long a request may take to come in, in milliseconds. */
const requestTimeoutMs = 60_000;

/** What answers the requests of a server. */
interface Attachment {
  listener: RequestListener;
  /** Whether its gatehouse stops, or has stopped: another one may take its place. */
  isOver(): boolean;
}

/** Servers that have a listener of ours: a second one would answer every request once more. */
const attached = new WeakMap<Server, Attachment>();

/**
 * Serves a Node HTTP server, and readies its time limits for long streams and proxies. The listener of a gatehouse that
 * is over answers until another one takes its place, as nobody answers at a server without one. Listeners of others are
 * warned of.
 * @throws TypeError for what is no HTTP server, such as an app of Express or Koa; Error for one that is attached
 */
export function attachTo(server: Server, attachment: Attachment, logger: Pick<Logger, 'warn'>): void {
  if (!isHttpServer(server))
    throw new TypeError(
      'attach takes a Node HTTP server, which createServer() of node:http gives. Within an app of Express, use app.callback() of the gatehouse.',
    );
  const former = attached.get(server);
  if (former && server.listeners('request').includes(former.listener)) {
    if (!former.isOver()) throw new Error('This HTTP server is attached already.');
    server.off('request', former.listener);
  }
  if (server.listenerCount('request') > 0)
    logger.warn(
      'the HTTP server has a listener for requests of its own: where that answers, too, requests meant for the gatehouse may fail. Attach a server without one, or call app.callback() of the gatehouse from it',
    );
  attached.set(server, attachment);
  server.keepAliveTimeout = keepAliveTimeoutMs;
  server.requestTimeout = requestTimeoutMs;
  server.on('request', attachment.listener);
}

/** Servers of node:https and node:http2 are none of node:http; one of node:net, which they all are, has no `setTimeout`. */
function isHttpServer(server: unknown): boolean {
  return server instanceof NetServer && 'setTimeout' in server;
}
