import { hkdfSync } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Agent, createServer, request, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { Logger } from '../observability/logger.ts';
import type { NodeRow } from '../storage/nodes.ts';
import type { ClusterNode } from './node.ts';

/**
 * Nodes prove to each other that they have the keys of the installation (pre-shared keys, RFC 4279 and RFC 5489), so
 * there are no certificates to issue. The suite has forward secrecy.
 */
const tls = {
  ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.2',
} as const;

/** Identity that a node names in the handshake. */
const identity = 'gatehouse-node';

/** Header with the address of the client, as the node that it asked found it. */
const clientAddressHeader = 'x-gatehouse-client-address';

/** Headers of one connection (RFC 9110 section 7.6.1), and that of ours. */
const hopByHop = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  clientAddressHeader,
]);

/** Maximum time to connect to another node, in milliseconds. */
const connectMs = 2_000;

/** Returns the key that nodes of an installation share. @param secret one that all nodes have and that never changes */
export function deriveNodeKey(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', 'gatehouse node to node', 32));
}

/** The port of a node that only other nodes can use. */
export interface NodePort {
  server: Server;
  port: number;
  /** Returns the client address of a request that another node has forwarded; undefined for other requests. */
  clientAddressOf(request: IncomingMessage): string | undefined;
  /** Serves forwarded requests from now on. */
  serve(listener: RequestListener): void;
  close(): void;
}

/**
 * Opens the port for other nodes.
 * @throws an error of the system if the address cannot be used
 */
export async function openNodePort({
  host,
  port,
  key,
}: {
  host: string;
  port: number;
  key: Buffer;
}): Promise<NodePort> {
  const server = createServer({
    ...tls,
    pskIdentityHint: identity,
    pskCallback: (_socket: TLSSocket, named: string) => (named === identity ? key : null),
  });
  const forwarded = new WeakSet<IncomingMessage>();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  return {
    server,
    port: (server.address() as AddressInfo).port,
    clientAddressOf: (request) =>
      forwarded.has(request) ? String(request.headers[clientAddressHeader] ?? 'unknown') : undefined,
    serve(listener) {
      server.on('request', (request, response) => {
        forwarded.add(request);
        listener(request, response);
      });
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** An MCP session: by its key in the storage, or by the node that its id names. */
export type NamedSession = { key: string } | { nodeId: string };

/** Options of {@link forwardSessions}. */
export interface ForwardingOptions {
  node: ClusterNode;
  key: Buffer;
  /** Returns the MCP session that a request names; undefined if it names none. */
  sessionOf: (request: IncomingMessage) => NamedSession | undefined;
  /** Returns the address of the client of a request. */
  findClientAddress: (request: IncomingMessage) => string;
  logger: Pick<Logger, 'warn'>;
}

/** Forwards requests to the nodes that serve their sessions. */
export interface Forwarding {
  /** Wraps the listener of the public port: it serves what no other node has to serve. */
  wrap(listener: RequestListener): RequestListener;
  close(): void;
}

/**
 * Creates the forwarding of requests whose MCP session another node serves. A request goes there whole, before anything
 * of it was judged or read, so that the other node judges it as its own; it is forwarded once at most.
 */
export function forwardSessions(options: ForwardingOptions): Forwarding {
  const { node, key, sessionOf, findClientAddress, logger } = options;
  const agent = new Agent({
    ...tls,
    keepAlive: true,
    pskCallback: () => ({ psk: key, identity }),
    // There is no certificate: who has the key is a node.
    checkServerIdentity: () => undefined,
  });

  function forward(
    to: NodeRow,
    session: NamedSession,
    incoming: IncomingMessage,
    response: ServerResponse,
  ): void {
    const [, host = '', port = ''] = /^\[?(.*?)\]?:(\d+)$/.exec(to.address) ?? [];
    const outgoing = request({
      ...tls,
      agent,
      host,
      port,
      method: incoming.method,
      path: incoming.url,
      headers: [
        ...forwardedHeaders(incoming),
        ...['X-Gatehouse-Client-Address', findClientAddress(incoming)],
      ],
      setHost: false,
    });
    const connecting = setTimeout(() => outgoing.destroy(new Error('the node did not answer')), connectMs);
    outgoing.once('socket', (socket) => {
      if (!socket.connecting) clearTimeout(connecting);
      else socket.once('secureConnect', () => clearTimeout(connecting));
    });
    const fail = (error: Error): void => {
      clearTimeout(connecting);
      if (response.headersSent || response.destroyed) {
        response.destroy();
        return;
      }
      if ('key' in session) node.forgetOwner(session.key);
      logger.warn({ err: error, node: to.id, address: to.address }, 'another node could not be reached');
      refuse(response);
    };
    outgoing.once('error', fail);
    outgoing.once('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, forwardedHeaders(answer));
      response.flushHeaders();
      pipeline(answer, response, () => undefined);
    });
    // A client that is gone ends the request at the other node as well.
    response.once('close', () => {
      if (!response.writableFinished) outgoing.destroy();
    });
    pipeline(incoming, outgoing, () => undefined);
  }

  return {
    wrap(listener) {
      return (incoming, response) => {
        const session = sessionOf(incoming);
        if (session === undefined) {
          listener(incoming, response);
          return;
        }
        if (!node.isCurrent()) {
          refuse(response);
          return;
        }
        const finding = 'key' in session ? node.ownerOf(session.key) : node.find(session.nodeId);
        finding.then(
          (owner) => (owner ? forward(owner, session, incoming, response) : listener(incoming, response)),
          () => refuse(response),
        );
      };
    },
    close: () => agent.destroy(),
  };
}

/** Returns the end-to-end headers of a message, in their order and spelling. */
function forwardedHeaders({ rawHeaders, headers }: IncomingMessage): string[] {
  const named = String(headers.connection ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  const kept: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase();
    if (hopByHop.has(name) || named.includes(name)) continue;
    kept.push(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  }
  return kept;
}

/** Answers that the session cannot be served at this moment. */
function refuse(response: ServerResponse): void {
  response.writeHead(503, {
    'Content-Type': 'application/json',
    'Retry-After': '1',
    'Cache-Control': 'no-store',
  });
  response.end(
    '{"error":"temporarily_unavailable","error_description":"The server of this session cannot be reached at the moment. Try again in a second."}',
  );
}
