import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Metrics } from '../observability/metrics.ts';

/**
 * Creates the listener of a port of its own for `GET /metrics`: what is counted is for the operator, and the public
 * port shows it to nobody (T-113).
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
