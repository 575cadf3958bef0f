import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';

/** Keep-alive timeout in milliseconds: longer than that of proxies, so that proxies close idle connections. */
const keepAliveTimeoutMs = 75_000;

/** Maximum time in which a request must arrive, in milliseconds. */
const requestTimeoutMs = 60_000;

/** The listener that is attached to a server. */
interface Attachment {
  listener: RequestListener;
  /** True if its gatehouse is closing or closed: another one may replace it. */
  isOver(): boolean;
}

/** Servers with a listener of Gatehouse: a second one would answer every request again. */
const attached = new WeakMap<Server, Attachment>();

/**
 * Answers the requests of a Node HTTP server, and sets its timeouts for long streams and proxies. The listener of a closed
 * gatehouse stays until another one replaces it, because a server without a listener never answers. Logs a warning if the
 * server has other listeners.
 * @throws TypeError if it is not an HTTP server, such as an Express or Koa app; Error if a gatehouse is attached to it
 */
export function attachTo(server: Server, attachment: Attachment, logger: Pick<Logger, 'warn'>): void {
  if (!isHttpServer(server))
    throw new TypeError(
      'attach takes a Node HTTP server, as createServer() of node:http returns it. In an Express app, use app.callback() of the gatehouse.',
    );
  const former = attached.get(server);
  if (former && server.listeners('request').includes(former.listener)) {
    if (!former.isOver()) throw new Error('This HTTP server is attached already.');
    server.off('request', former.listener);
  }
  if (server.listenerCount('request') > 0)
    logger.warn(
      'the HTTP server has another listener for requests: if it answers too, requests for the gatehouse may fail. Attach a server without a listener, or call app.callback() of the gatehouse from yours',
    );
  attached.set(server, attachment);
  server.keepAliveTimeout = keepAliveTimeoutMs;
  server.requestTimeout = requestTimeoutMs;
  server.on('request', attachment.listener);
}

/** Accepts servers of node:https and node:http2, too; a plain node:net server has no `setTimeout`. */
function isHttpServer(server: unknown): boolean {
  return server instanceof NetServer && 'setTimeout' in server;
}

/**
 * Creates the listener for `GET /metrics` on its own port: metrics are for the operator, and the public port does not show
 * them (T-113).
 */
export function answerMetrics(metrics: Pick<Metrics, 'render'>) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { Allow: 'GET, HEAD' }).end();
      return;
    }
    const { contentType, text } = await metrics.render();
    response.writeHead(200, { 'Content-Type': contentType, 'Cache-Control': 'no-store' }).end(text);
  };
}
