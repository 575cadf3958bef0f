import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An answer of the server behind, which a slip changes. */
export interface SlippingAnswer {
  method: string;
  path: string;
  status: number;
  headers: Record<string, string>;
  text: string;
}

/** One thing that a server does wrong. */
export interface SlipOfServer {
  (answer: SlippingAnswer): void;
  /** Paths that redirect, with where to; the server behind does not see the request. */
  redirects?: Readonly<Record<string, string>>;
}

/** A relay in front of a real server that lets one slip happen. */
export interface SloppyRelay {
  url: string;
  slip: SlipOfServer;
  relayTo(port: number): void;
  stop(): Promise<void>;
}

async function readAll(stream: IncomingMessage): Promise<string> {
  stream.setEncoding('utf8');
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  return text;
}

/** Starts a relay on a free port of loopback. Event streams go through as they are. */
export async function startSloppyRelay(): Promise<SloppyRelay> {
  let port = 0;
  const relay: SloppyRelay = {
    url: '',
    slip: () => undefined,
    relayTo: (given) => {
      port = given;
    },
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };

  async function answer(asked: IncomingMessage, from: IncomingMessage, to: ServerResponse): Promise<void> {
    if (from.headers['content-type']?.startsWith('text/event-stream')) {
      to.writeHead(from.statusCode ?? 502, from.headers);
      from.pipe(to);
      return;
    }
    const cookies = from.headers['set-cookie'];
    const single = Object.entries(from.headers).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[0] !== 'content-length',
    );
    const seen: SlippingAnswer = {
      method: asked.method ?? '',
      path: new URL(asked.url ?? '/', 'http://relay').pathname,
      status: from.statusCode ?? 502,
      headers: Object.fromEntries(single),
      text: await readAll(from),
    };
    relay.slip(seen);
    to.writeHead(seen.status, {
      ...seen.headers,
      ...(cookies === undefined ? {} : { 'set-cookie': cookies }),
    });
    to.end(seen.text);
  }

  const server = createServer((incoming, outgoing) => {
    const fail = (): void => {
      if (!outgoing.headersSent) outgoing.writeHead(502);
      outgoing.end();
    };
    const { method, url: path = '/', headers } = incoming;
    const to = relay.slip.redirects?.[path];
    if (to !== undefined) {
      incoming.resume();
      outgoing.writeHead(307, { location: to }).end();
      return;
    }
    const forwarded = request({ host: '127.0.0.1', port, method, path, headers }, (from) => {
      answer(incoming, from, outgoing).catch(fail);
    });
    forwarded.on('error', fail);
    outgoing.on('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  relay.url = `http://localhost:${(server.address() as AddressInfo).port}`;
  return relay;
}
