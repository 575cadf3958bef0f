import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { createCertificate, type TestCertificate } from './certificate.ts';

/** A site that publishes documents, over https on this machine. */
export interface DocumentHost {
  port: number;
  /** `https://localhost:<port>`. */
  origin: string;
  /** The certificate it shows, in PEM: what a process of its own has to trust. */
  certificate: string;
  /** Requests that came, by path, in order. */
  requests: string[];
  /** Connections that were opened, whatever became of them. */
  connections: () => number;
  /** What a path answers from now on; the handler has to end the answer, or not, as it likes. */
  serve(path: string, handler: (request: IncomingMessage, response: ServerResponse) => void): void;
  /** Serves a client metadata document at a path, with its own URL as its id, and gives the URL. */
  publish(path: string, document?: Record<string, unknown>, headers?: Record<string, string>): string;
  stop(): Promise<void>;
}

const shared = createCertificate(['localhost', '127.0.0.1', '::1', 'app.example.com']);

/** Lets this process trust what the hosts of its tests show. */
export function trustDocumentHosts(): void {
  setDefaultCACertificates([...getCACertificates('default'), shared.cert]);
}

/**
 * Starts one.
 * @param certificate what it shows; one that {@link trustDocumentHosts} trusts unless told
 * @param address where it listens
 */
export async function startDocumentHost(
  certificate: TestCertificate = shared,
  address = '127.0.0.1',
): Promise<DocumentHost> {
  const handlers = new Map<string, (request: IncomingMessage, response: ServerResponse) => void>();
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer({ ...certificate }, (request, response) => {
    const path = request.url ?? '';
    requests.push(path);
    const handler = handlers.get(path) ?? handlers.get('*');
    if (handler) handler(request, response);
    else response.writeHead(404).end();
  });
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  const { port } = server.address() as AddressInfo;
  const origin = `https://localhost:${port}`;
  const serve: DocumentHost['serve'] = (path, handler) => void handlers.set(path, handler);
  return {
    port,
    origin,
    certificate: certificate.cert,
    requests,
    connections: () => connections,
    serve,
    publish(path, document = {}, headers = {}) {
      const url = `${origin}${path}`;
      const whole = {
        client_id: url,
        client_name: 'A documented client',
        redirect_uris: ['http://localhost/callback'],
        ...document,
      };
      serve(path, (_request, response) =>
        response
          .writeHead(200, { 'content-type': 'application/json', ...headers })
          .end(JSON.stringify(whole)),
      );
      return url;
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
