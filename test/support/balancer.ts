import { createServer, request } from 'node:http';
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

/** Starts a balancer on loopback. */
export async function startBalancer(): Promise<Balancer> {
  const ports: number[] = [];
  const hosts = new Map<number, string>();
  let fixed: number | undefined;
  const server = createServer((incoming, response) => {
    const port = fixed ?? ports[Math.floor(Math.random() * ports.length)] ?? 0;
    const outgoing = request({
      ...{ host: hosts.get(port) ?? '127.0.0.1', port, method: incoming.method, path: incoming.url },
      headers: incoming.rawHeaders,
      setHost: false,
    });
    outgoing.once('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      response.flushHeaders();
      pipeline(answer, response, () => undefined);
    });
    outgoing.once('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end()));
    response.once('close', () => outgoing.destroy());
    pipeline(incoming, outgoing, () => undefined);
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
