import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A request as the server saw it. */
export interface Seen {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: string;
}

/** What a route answers. `raw` writes to the response itself. */
export interface Reply {
  status?: number;
  headers?: Record<string, string | string[]>;
  json?: unknown;
  text?: string;
  raw?: (response: ServerResponse) => void;
}

/** Answers one request. */
export type Route = (seen: Seen) => Reply | Promise<Reply>;

function write(response: ServerResponse, reply: Reply): void {
  if (reply.raw) {
    reply.raw(response);
    return;
  }
  const json = reply.json === undefined ? undefined : JSON.stringify(reply.json);
  response.writeHead(reply.status ?? 200, {
    ...(json === undefined ? {} : { 'content-type': 'application/json' }),
    ...reply.headers,
  });
  response.end(json ?? reply.text ?? '');
}

/** A server that listens. */
export interface Listening {
  origin: string;
  stop(): Promise<void>;
}

/**
 * Serves on a free port of 127.0.0.1.
 * @param answer what every request gets
 */
export async function listen(answer: Route): Promise<Listening> {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { pathname: path, searchParams: query } = new URL(request.url ?? '/', 'http://test');
    try {
      write(
        response,
        await answer({ method: request.method ?? '', path, query, headers: request.headers, body }),
      );
    } catch (error) {
      write(response, { status: 500, text: String(error) });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * Serves until the running test ends, see {@link listen}.
 * @param answer what every request gets
 * @returns origin
 */
export async function serve(answer: Route): Promise<string> {
  const { origin, stop } = await listen(answer);
  onTestFinished(stop);
  return origin;
}
