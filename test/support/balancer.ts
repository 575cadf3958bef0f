import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';

/** A load balancer that deals out requests at random, without stickiness. */
export interface Balancer {
  url: string;
  /** Ports that it deals out to. */
  ports: number[];
  /** Addresses of those that are not on loopback, by their ports. */
  hosts: Map<number, string>;
  /** Sends every request to one port from now on; undefined for random ones again. */
  only(port: number | undefined): void;
  close(): void;
}

/** Maximum number of ports that a request is tried at. */
const maxTries = 5;

/**
 * Returns the headers of a response without those of its connection (RFC 9110 section 7.6.1): clients would rely on the
 * keep-alive timeout of the node, which is longer than that of the balancer.
 */
function endToEndHeaders({ rawHeaders }: IncomingMessage): string[] {
  return rawHeaders.filter((_, at) => !ofConnection.has((rawHeaders[at - (at % 2)] ?? '').toLowerCase()));
}

const ofConnection = new Set(['connection', 'keep-alive']);

/** Starts a balancer on loopback. */
export async function startBalancer(): Promise<Balancer> {
  const ports: number[] = [];
  const hosts = new Map<number, string>();
  let fixed: number | undefined;
  /** The request that a response waits for, by the response. */
  const running = new WeakMap<ServerResponse, ClientRequest>();
  const pick = (): number => fixed ?? ports[Math.floor(Math.random() * ports.length)] ?? 0;

  /** Sends a request on; a port that nobody listens at is left out, as nothing of the request was sent yet. */
  function relay(incoming: IncomingMessage, response: ServerResponse, tries = 1): void {
    const port = pick();
    const outgoing = request({
      ...{ host: hosts.get(port) ?? '127.0.0.1', port, method: incoming.method, path: incoming.url },
      headers: incoming.rawHeaders,
      setHost: false,
    });
    let isConnected = false;
    const send = (): void => {
      isConnected = true;
      pipeline(incoming, outgoing, () => undefined);
    };
    outgoing.once('socket', (socket) => {
      if (socket.connecting) socket.once('connect', send);
      else send();
    });
    outgoing.once('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, endToEndHeaders(answer));
      response.flushHeaders();
      pipeline(answer, response, () => undefined);
    });
    outgoing.once('error', () => {
      if (!isConnected && tries < maxTries && !response.destroyed) relay(incoming, response, tries + 1);
      else if (response.headersSent) response.destroy();
      else response.writeHead(502).end();
    });
    running.set(response, outgoing);
  }

  const server = createServer((incoming, response) => {
    response.once('close', () => running.get(response)?.destroy());
    relay(incoming, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    ports,
    hosts,
    only(port) {
      fixed = port;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
