import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request, and the response to it. */
export interface Exchange {
  /** When it arrived, in epoch milliseconds. */
  at: number;
  method: string;
  /** The path with its query. */
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** 0 until the server responds. */
  status: number;
  responseHeaders: IncomingHttpHeaders;
  /** Empty for an event stream. */
  responseBody: string;
}

/** A relay in front of a server that keeps what was sent. */
export interface Recorder {
  /** The origin for clients. */
  url: string;
  exchanges: readonly Exchange[];
  /** Relays to this port of 127.0.0.1 from now on. */
  relayTo(port: number): void;
  stop(): Promise<void>;
}

/** The end of each kept body, in bytes. */
const maxKeptBytes = 1_000_000;

/** Starts a recorder on a free port of loopback. Before `relayTo`, and while the server is away, it responds with 502. */
export async function startRecorder(): Promise<Recorder> {
  const exchanges: Exchange[] = [];
  let port = 0;
  const server = createServer((incoming, outgoing) => {
    const { method = '', url: path = '', headers } = incoming;
    const exchange: Exchange = {
      at: Date.now(),
      method,
      path,
      headers,
      body: '',
      status: 0,
      responseHeaders: {},
      responseBody: '',
    };
    exchanges.push(exchange);
    const forwarded = request({ host: '127.0.0.1', port, method, path, headers }, (response) => {
      exchange.status = response.statusCode ?? 502;
      exchange.responseHeaders = response.headers;
      outgoing.writeHead(exchange.status, response.headers);
      outgoing.flushHeaders();
      const isStream = response.headers['content-type']?.includes('event-stream') ?? false;
      response.on('data', (chunk: Buffer) => {
        if (!isStream && exchange.responseBody.length < maxKeptBytes) exchange.responseBody += chunk;
        outgoing.write(chunk);
      });
      response.on('end', () => outgoing.end());
      response.on('error', () => outgoing.destroy());
    });
    forwarded.on('error', () => {
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(502).end();
    });
    outgoing.on('close', () => forwarded.destroy());
    incoming.on('data', (chunk: Buffer) => {
      if (exchange.body.length < maxKeptBytes) exchange.body += chunk;
      forwarded.write(chunk);
    });
    incoming.on('end', () => forwarded.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    exchanges,
    relayTo(given) {
      port = given;
    },
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
