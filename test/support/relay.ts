import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A relay in front of a server, as a reverse proxy is. */
export interface Relay {
  /** What clients are given. */
  url: string;
  /** Relays to this port of 127.0.0.1 from now on. */
  relayTo(port: number): void;
  stop(): Promise<void>;
}

/** What the relay changes; all else goes through as it is. */
export interface RelayChanges {
  /** Headers of requests; its result goes to the server. */
  headers?: (headers: IncomingMessage['headers']) => IncomingMessage['headers'];
  /** Bodies of JSON answers to GET requests of `path`. */
  document?: (path: string, document: Record<string, unknown>) => Record<string, unknown>;
}

async function readAll(stream: IncomingMessage): Promise<string> {
  stream.setEncoding('utf8');
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  return text;
}

/** Starts a relay on a free port of loopback; it answers 502 until it is told where to relay to. */
export async function startRelay({ headers = (same) => same, document }: RelayChanges): Promise<Relay> {
  let port: number | undefined;

  async function answer(
    incoming: IncomingMessage,
    fromServer: IncomingMessage,
    to: ServerResponse,
  ): Promise<void> {
    const isDocument = incoming.method === 'GET' && fromServer.headers['content-type']?.includes('json');
    if (!document || !isDocument) {
      to.writeHead(fromServer.statusCode ?? 502, fromServer.headers);
      fromServer.pipe(to);
      return;
    }
    const seen = JSON.parse(await readAll(fromServer)) as Record<string, unknown>;
    const text = JSON.stringify(document(incoming.url ?? '', seen));
    const { 'content-length': _length, ...rest } = fromServer.headers;
    to.writeHead(fromServer.statusCode ?? 502, rest).end(text);
  }

  const server = createServer((incoming, outgoing) => {
    const fail = (): void => {
      if (!outgoing.headersSent) outgoing.writeHead(502);
      outgoing.end();
    };
    if (port === undefined) return fail();
    const forwarded = request(
      {
        host: '127.0.0.1',
        port,
        method: incoming.method,
        path: incoming.url,
        headers: headers(incoming.headers),
      },
      (fromServer) => {
        answer(incoming, fromServer, outgoing).catch(fail);
      },
    );
    forwarded.on('error', fail);
    outgoing.on('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    relayTo: (given) => {
      port = given;
    },
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
