import { hash, hkdfSync } from 'node:crypto';
import type { ClientRequest, IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import { Agent, createServer, type RequestOptions, request, type Server } from 'node:https';
import { type AddressInfo, isIP } from 'node:net';
import { pipeline } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import { setBounded } from '../collections/caches.ts';
import { endedWithin, Idleness } from '../collections/closing.ts';
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

/**
 * Headers of ours: the address of the client as the node that was asked found it, the node that is meant, if the node
 * that was asked has judged the request, and a task of a node itself.
 */
const own = {
  clientAddress: 'x-gatehouse-client-address',
  node: 'x-gatehouse-node',
  judged: 'x-gatehouse-judged',
  task: 'x-gatehouse-task',
} as const;

/** Headers of one connection (RFC 9110 section 7.6.1), the framing, which each connection has of its own, and ours. */
const dropped = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'upgrade', 'expect'],
  ...['transfer-encoding', 'content-length'],
  ...Object.values(own),
]);

/** Headers that a `Connection` header cannot take away. */
const kept = new Set(['authorization', 'content-type', 'host', 'mcp-session-id']);

/** Methods whose requests have no body here: Node would not frame one. */
const bodiless = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS']);

/** Pause between the looks whether the other node is alive, in milliseconds. */
const aliveMs = 1_000;

/** Maximum number of sessions whose node is looked for at once; further requests are refused. */
const maxSearches = 1_000;

/** Maximum time to connect to another node, in milliseconds: many requests that come at once open as many connections. */
const connectMs = 5_000;

/** Pause between two looks whether the network reaches another node for which requests run, in milliseconds. */
const probePauseMs = 5_000;

/** Maximum number of nodes whose last probe is remembered. */
const maxProbed = 100;

/** Errors of a connection that say that the network does not reach a machine. */
const unreachableCodes: readonly unknown[] = ['EHOSTUNREACH', 'ENETUNREACH'];

/** Maximum time until another node has done a task, in milliseconds. */
const taskMs = 2_000;

/**
 * Time after which a node closes a connection to another one that it does not use, in milliseconds. The other one waits for
 * longer: it never closes a connection at the moment in which a request is sent.
 */
const idleMs = 30_000;

/** Maximum time in which responses that are under way reach another node after the port was closed, in milliseconds. */
const lingerMs = 1_000;

/** Pause between two looks for connections that have become idle since the port was closed, in milliseconds. */
const idleLookMs = 50;

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
  /** Returns whether another node has forwarded a request after it had counted it and recorded its proof. */
  isJudged(request: IncomingMessage): boolean;
  /**
   * Serves forwarded requests from now on.
   * @param isFor returns whether requests for a node, by its id, may be served here at this moment
   * @param endIdleSession ends an MCP session by its key, unless it is in use; returns whether it did
   */
  serve(
    listener: RequestListener,
    isFor: (nodeId: string) => boolean,
    endIdleSession: (key: string) => Promise<boolean>,
  ): void;
  /** Resolves when no forwarded request runs here. @param patienceMs maximum wait, in milliseconds */
  drain(patienceMs: number): Promise<void>;
  /** Accepts no further connections, and cuts those on which a response takes longer than a second. */
  close(): Promise<void>;
}

/** The requests that run, by their responses. */
interface RunningRequests {
  /** Adds a request until its response has closed. */
  add(response: ServerResponse): void;
  /** Waits no longer for a request. */
  remove(response: ServerResponse): void;
  /** Resolves when none runs. @param patienceMs maximum wait, in milliseconds */
  whenNoneRuns(patienceMs: number): Promise<void>;
}

function createRunningRequests(): RunningRequests {
  const running = new Set<ServerResponse>();
  const idleness = new Idleness(() => running.size === 0);
  function remove(response: ServerResponse): void {
    running.delete(response);
    idleness.ended();
  }
  return {
    add(response) {
      running.add(response);
      // Those who serve it listen up to ten times, from which on Node warns.
      response.setMaxListeners(response.getMaxListeners() + 1);
      response.once('close', () => remove(response));
    },
    remove,
    whenNoneRuns: (patienceMs) => idleness.wait(patienceMs),
  };
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
  server.keepAliveTimeout = 2 * idleMs;
  const running = createRunningRequests();
  const forwarded = new WeakSet<IncomingMessage>();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  return {
    server,
    port: (server.address() as AddressInfo).port,
    clientAddressOf: (request) =>
      forwarded.has(request) ? String(request.headers[own.clientAddress] ?? 'unknown') : undefined,
    isJudged: (request) => forwarded.has(request) && request.headers[own.judged] !== undefined,
    serve(listener, isFor, endIdleSession) {
      server.on('request', (request, response) => {
        running.add(response);
        const task = request.headers[own.task];
        if (!isFor(String(request.headers[own.node]))) answerUnavailable(response);
        else if (task === undefined) {
          forwarded.add(request);
          listener(request, response);
        } else
          endIdleSession(String(task)).then(
            (isDone) => response.end(String(isDone)),
            () => answerUnavailable(response),
          );
      });
    },
    drain: running.whenNoneRuns,
    async close() {
      const { promise: closed, resolve } = Promise.withResolvers<void>();
      server.close(() => resolve());
      const idle = setInterval(() => server.closeIdleConnections(), idleLookMs);
      await endedWithin(lingerMs, closed);
      clearInterval(idle);
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
  /** Returns whether another node has forwarded a request already. */
  isForwarded: (request: IncomingMessage) => boolean;
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
  /**
   * Forwards a request that this node has judged: it is counted, and its proof of possession is recorded, so that the
   * other node does neither again. Answers 503 if that node is not alive or cannot be reached, and if another node has
   * forwarded the request already.
   * @param body of the request, if it was read already
   */
  forwardJudged(
    nodeId: string,
    incoming: IncomingMessage,
    response: ServerResponse,
    body: Buffer | undefined,
  ): Promise<void>;
  /**
   * Asks another node to end an MCP session, unless it is in use there.
   * @returns false also if the node cannot say so in time
   */
  endIdleSession(nodeId: string, key: string): Promise<boolean>;
  /**
   * Ends the open event streams, so that their clients connect to another node, and resolves when no other forwarded
   * request runs.
   * @param patienceMs maximum wait, in milliseconds
   */
  drain(patienceMs: number): Promise<void>;
  /** Cuts the requests that still run. */
  close(): void;
}

/**
 * Creates the forwarding of requests whose MCP session another node serves. A request goes there whole, before anything
 * of it was judged or read, so that the other node judges it as its own; it is forwarded once at most.
 */
export function forwardSessions(options: ForwardingOptions): Forwarding {
  const { node, key, isForwarded, sessionOf, findClientAddress, logger } = options;
  const client = {
    ...tls,
    pskCallback: () => ({ psk: key, identity }),
    // There is no certificate: who has the key is a node.
    checkServerIdentity: () => undefined,
  };
  const agent = new Agent({ ...client, keepAlive: true, timeout: idleMs });

  const running = createRunningRequests();
  /** Functions that end the open event streams, which have no call to wait for. */
  const streamEnders = new Set<() => void>();
  let searches = 0;

  function open(
    { address }: NodeRow,
    asked: Pick<RequestOptions, 'method' | 'path' | 'headers'>,
  ): ClientRequest {
    return request({ ...tls, agent, ...parseAddress(address), ...asked, setHost: false });
  }

  /** The last probe of each node, by its address. */
  const probes = new Map<string, { at: number; isReachable: Promise<boolean> }>();

  /** Returns whether the network reaches a node. If it drops packets silently, it breaks no connection for a long time. */
  function isReachable({ address }: NodeRow): Promise<boolean> {
    const last = probes.get(address);
    if (last && performance.now() - last.at < probePauseMs) return last.isReachable;
    const probe = { at: performance.now(), isReachable: tryConnection(address) };
    setBounded(probes, address, probe, maxProbed);
    return probe.isReachable;
  }

  async function tryConnection(address: string, isLast = false): Promise<boolean> {
    const { promise: outcome, resolve } = Promise.withResolvers<boolean | 'no way'>();
    const { host, port } = parseAddress(address);
    const socket = connect({ ...client, host, port: Number(port) }, () => resolve(true));
    // A port that refuses the connection was reached: the database says whether its node is alive. So it is with a name
    // that is not found: it says nothing of the network to the node.
    socket.on('error', ({ code }: NodeJS.ErrnoException) =>
      resolve(unreachableCodes.includes(code) ? 'no way' : true),
    );
    let late: NodeJS.Timeout | undefined;
    const wait = (): void => {
      // If this process was paused, the connection may be older than the time that has passed.
      late = setTimeout(() => setImmediate(resolve, false), connectMs);
    };
    if (isIP(host) === 0) socket.once('lookup', wait);
    else wait();
    const seen = await outcome;
    clearTimeout(late);
    socket.destroy();
    // A route may be away for a moment.
    if (seen === 'no way' && !isLast) {
      await sleep(aliveMs, undefined, { ref: false });
      return tryConnection(address, true);
    }
    const isOpen = seen === true;
    // Later requests try connections of their own, and so get 503.
    if (!isOpen) for (const idle of Object.values(agent.freeSockets).flat()) idle?.destroy();
    return isOpen;
  }

  /** @param unreachable called if the other node cannot be reached */
  function forward(
    to: NodeRow,
    { incoming, response, body, isJudged }: Forwarded,
    unreachable: () => void = () => undefined,
  ): void {
    // The client may have left while the node was looked for.
    if (isGone(response)) return;
    running.add(response);
    const outgoing = open(to, {
      method: incoming.method,
      path: incoming.url,
      headers: [
        ...forwardedHeaders(incoming),
        ...(body ? ['Content-Length', String(body.length)] : framingOf(incoming)),
        ...[own.clientAddress, findClientAddress(incoming), own.node, to.id],
        ...(isJudged ? [own.judged, 'yes'] : []),
      ],
    });
    let isConnected = false;
    let isLost = false;
    let isAnswered = false;
    const connecting = setTimeout(() => outgoing.destroy(new Error('the node did not answer')), connectMs);
    const connected = (): void => {
      isConnected = true;
      clearTimeout(connecting);
    };
    outgoing.once('socket', (socket) => {
      if (!socket.connecting) connected();
      else socket.once('secureConnect', connected);
    });
    // A machine that is lost closes no connection.
    const watching = setInterval(async () => {
      // While the database does not answer, the own lease says for how long it may stay so.
      const isAlive = await node.find(to.id).then(Boolean, () => node.isCurrent());
      if (isAlive && (await isReachable(to))) return;
      isLost = true;
      outgoing.destroy(new Error(`the node ${isAlive ? 'cannot be reached' : 'is not alive'} any more`));
    }, aliveMs);
    /** Returns whether the other node may have run what it was sent. One that has left had ended all requests before. */
    const mayHaveRun = async (): Promise<boolean> =>
      isConnected &&
      incoming.method === 'POST' &&
      (isLost ||
        (await node.listOthers().then(
          (others) => others.some(({ id }) => id === to.id),
          () => true,
        )));
    const fail = async (error: Error): Promise<void> => {
      clearTimeout(connecting);
      clearInterval(watching);
      // What the client still sends is read, so that it reads the response.
      incoming.resume();
      // The other node answered before it had read the body, and closed the connection: its response goes on.
      if (isAnswered && !isLost) return;
      if (response.headersSent || isGone(response)) {
        response.destroy(error);
        return;
      }
      unreachable();
      logger.warn({ err: error, node: to.id, address: to.address }, 'another node could not be reached');
      const answer = (await mayHaveRun()) ? answerBroken : answerUnavailable;
      if (!response.headersSent && !isGone(response)) answer(response);
    };
    outgoing.on('error', (error) => void fail(error));
    outgoing.once('response', (answer) => {
      isAnswered = true;
      const status = answer.statusCode ?? 502;
      const headers = [...forwardedHeaders(answer), ...lengthOf(answer)];
      if (http2StreamOf(response)) response.writeHead(status, headers);
      else response.writeHead(status, answer.statusMessage, headers);
      response.flushHeaders();
      pipeline(answer, response, () => undefined);
      if (incoming.method !== 'GET' || !isEventStream(answer)) return;
      const end = (): void => {
        answer.unpipe(response);
        response.end(() => outgoing.destroy());
      };
      running.remove(response);
      streamEnders.add(end);
      response.once('close', () => streamEnders.delete(end));
    });
    // A client that is gone ends the request at the other node as well.
    response.once('close', () => {
      clearInterval(watching);
      if (response.writableFinished && outgoing.writableFinished) return;
      outgoing.destroy();
      incoming.resume();
    });
    if (body) outgoing.end(body);
    else if (hasBody(incoming)) {
      // The other node may refuse a body before the client sends it.
      outgoing.flushHeaders();
      incoming.pipe(outgoing);
    } else outgoing.end();
  }

  /** Ends a request that could not be sent. */
  function giveUp(response: ServerResponse, error: unknown): void {
    logger.warn({ err: error }, 'a request could not be forwarded');
    if (response.headersSent) response.destroy();
    else answerUnavailable(response);
  }

  /** Looks for a node, with a bound on how many are looked for at once. @throws if nobody can say */
  async function search(find: () => Promise<NodeRow | undefined>): Promise<NodeRow | undefined> {
    if (!node.isCurrent() || searches >= maxSearches) throw new Error('the nodes cannot be asked for now');
    searches++;
    return find().finally(() => searches--);
  }

  return {
    wrap(listener) {
      return (incoming, response) => {
        const session = sessionOf(incoming);
        if (session === undefined) {
          listener(incoming, response);
          return;
        }
        if (refuseBody(incoming, response)) return;
        // Without a token it is refused, wherever: nobody else causes a query.
        const { authorization } = incoming.headers;
        if (authorization === undefined) {
          listener(incoming, response);
          return;
        }
        const find = (): Promise<NodeRow | undefined> =>
          'key' in session
            ? node.ownerOf(session.key, hash('sha256', authorization))
            : node.find(session.nodeId);
        search(find)
          .then(
            (owner) => {
              if (!owner) return listener(incoming, response);
              const forgetOwner = (): void => ('key' in session ? node.forgetOwner(session.key) : undefined);
              forward(owner, { incoming, response }, forgetOwner);
            },
            () => answerUnavailable(response),
          )
          .catch((error: unknown) => giveUp(response, error));
      };
    },
    async forwardJudged(nodeId, incoming, response, body) {
      if (refuseBody(incoming, response)) return;
      const to = isForwarded(incoming)
        ? undefined
        : await search(() => node.find(nodeId)).catch(() => undefined);
      if (!to) {
        answerUnavailable(response);
        return;
      }
      try {
        forward(to, { incoming, response, body, isJudged: true });
      } catch (error) {
        giveUp(response, error);
      }
    },
    async endIdleSession(nodeId, key) {
      const to = await search(() => node.find(nodeId)).catch(() => undefined);
      if (!to) return false;
      const headers = [own.node, to.id, own.task, key, 'Content-Length', '0', 'Host', to.id];
      const outgoing = open(to, { method: 'POST', path: '/', headers });
      const late = setTimeout(() => outgoing.destroy(), taskMs);
      return new Promise<boolean>((resolve) => {
        outgoing.once('error', () => resolve(false));
        outgoing.once('close', () => resolve(false));
        outgoing.once('response', (answer) => {
          answer.setEncoding('utf8').on('data', (text: string) => resolve(text === 'true'));
        });
        outgoing.end();
      }).finally(() => clearTimeout(late));
    },
    async drain(patienceMs) {
      for (const end of streamEnders) end();
      await running.whenNoneRuns(patienceMs);
    },
    close: () => agent.destroy(),
  };
}

/** A request on its way to another node, and the response to it. */
interface Forwarded {
  incoming: IncomingMessage;
  response: ServerResponse;
  /** Body of the request, if it was read already. */
  body?: Buffer | undefined;
  /** True if this node has counted the request and recorded its proof. */
  isJudged?: boolean;
}

/** Parses the address of a node. */
function parseAddress(address: string): { host: string; port: string } {
  const [, host = '', port = ''] = /^\[?(.*?)\]?:(\d+)$/.exec(address) ?? [];
  return { host, port };
}

/** Returns the stream of a message over HTTP/2; undefined over HTTP/1.1. */
function http2StreamOf(message: IncomingMessage | ServerResponse): ServerHttp2Stream | undefined {
  return (message as { stream?: ServerHttp2Stream }).stream;
}

/** Returns whether the client of a response has left. */
function isGone(response: ServerResponse): boolean {
  return response.destroyed || http2StreamOf(response)?.destroyed === true;
}

function isEventStream({ headers }: IncomingMessage): boolean {
  return headers['content-type']?.startsWith('text/event-stream') === true;
}

/**
 * Returns the end-to-end headers of a message, in their order and spelling. Over HTTP/2, `Host` is the `:authority` (RFC
 * 9113 section 8.3.1).
 */
function forwardedHeaders({ rawHeaders, headers }: IncomingMessage): string[] {
  const named = String(headers.connection ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  const authority = headers[':authority'];
  const forwarded = typeof authority === 'string' ? ['Host', authority] : [];
  const hasHost = forwarded.length > 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase();
    if (name.startsWith(':') || (hasHost && name === 'host')) continue;
    if (dropped.has(name) || (named.includes(name) && !kept.has(name))) continue;
    forwarded.push(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  }
  return forwarded;
}

/** Returns whether a request has a body (RFC 9112 section 6, RFC 9113 section 8.1). */
function hasBody(incoming: IncomingMessage): boolean {
  const { 'transfer-encoding': encoding, 'content-length': length } = incoming.headers;
  if (encoding !== undefined) return true;
  if (length !== undefined) return Number(length) > 0;
  return http2StreamOf(incoming)?.endAfterHeaders === false;
}

/** Refuses a request whose method has no body here, if it has one. @returns whether it did */
function refuseBody(incoming: IncomingMessage, response: ServerResponse): boolean {
  if (!hasBody(incoming) || !bodiless.has(incoming.method ?? '')) return false;
  const closing = http2StreamOf(incoming) ? {} : { Connection: 'close' };
  response.writeHead(400, { 'Content-Type': 'application/json', ...closing });
  response.end(
    `{"error":"invalid_request","error_description":"A ${incoming.method} request here has no body."}`,
  );
  return true;
}

/** Returns the length of a message as a header, if it has one; Node has checked that it is a number. */
function lengthOf({ headers }: IncomingMessage): string[] {
  const length = headers['content-length'];
  return length === undefined || headers['transfer-encoding'] !== undefined ? [] : ['Content-Length', length];
}

/** Returns the header that frames the body of a forwarded request: exactly one, of our own. */
function framingOf(incoming: IncomingMessage): string[] {
  if (!hasBody(incoming)) return bodiless.has(incoming.method ?? '') ? [] : ['Content-Length', '0'];
  const length = lengthOf(incoming);
  return length.length > 0 ? length : ['Transfer-Encoding', 'chunked'];
}

/** Answers that the connection broke after the request was sent. */
function answerBroken(response: ServerResponse): void {
  response.writeHead(502, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  response.end(
    '{"error":"server_error","error_description":"The server of this session went away while it handled the request. The request may have taken effect."}',
  );
}

/** Answers that the session cannot be served at this moment. */
export function answerUnavailable(response: ServerResponse): void {
  response.writeHead(503, {
    'Content-Type': 'application/json',
    'Retry-After': '1',
    'Cache-Control': 'no-store',
  });
  response.end(
    '{"error":"temporarily_unavailable","error_description":"The server of this session cannot be reached at the moment. Try again in a second."}',
  );
}
