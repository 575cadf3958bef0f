import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Deadlines } from '../../../mcp/deadlines.ts';
import type { BackendFailure } from '../backend-errors.ts';
import { createNearLookup, isNear, publicAddressCode } from './near-lookup.ts';

/** How a backend is reached. */
export interface WireOptions {
  url: URL;
  /** From the question to the name server until messages may be sent, in milliseconds. */
  connectMs: number;
  /** How long the head of an answer may take, in milliseconds. */
  headMs: number;
  /** How long the rest of an answer that is no stream may take, in milliseconds. */
  bodyMs: number;
  /** Whether http may be spoken with addresses of the public internet. */
  allowsPlainHttp: boolean;
}

/** A request to a backend. */
export interface WireRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** Path and query. */
  path: string;
  /** Names and values in turn; `host` and `content-length` are added. */
  headers: readonly string[];
  body?: string;
}

/** Why there is no answer. */
export interface WireFailure {
  reason: BackendFailure;
  /** What the system calls it, for the log. */
  code?: string | undefined;
  /** Whether a connection from before turned out to be closed: the server may not have seen the request. */
  isStale?: boolean;
}

/** What comes of a request: one of both, once. */
export interface WireListener {
  /** The head of an answer that is no redirect; its body has to be read, or the request dropped. */
  head(answer: IncomingMessage): void;
  failed(failure: WireFailure): void;
}

/** Largest head of an answer, in bytes. */
const maxHeaderSize = 32 * 1024;

/** Servers end connections nobody uses; many after 5 s, and not all of them say so. */
const idleMs = 4_000;

const unverified = /^(ERR_TLS_|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERR_SSL_|HOSTNAME_MISMATCH|EPROTO)/;

class ConnectTimeout extends Error {
  readonly code = 'CONNECT_TIMEOUT';
}

/**
 * The connections to one backend: kept open and used again, verified where they are TLS. Redirects are never followed
 * (T-157), no proxy is asked, and nothing of the process but these bytes goes out. `node:http` and not `fetch`, which
 * takes several times as long for a call.
 */
export class Wire {
  readonly #options: WireOptions;
  readonly #agent: HttpAgent;
  readonly #send: typeof httpRequest;
  readonly #heads: Deadlines;
  /** See {@link WireOptions.bodyMs}; kept by who reads. */
  readonly bodies: Deadlines;

  /** @throws Error where the URL is one that messages are not sent to */
  constructor(options: WireOptions) {
    this.#options = options;
    const { url, connectMs, headMs, bodyMs, allowsPlainHttp } = options;
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const isSecure = url.protocol === 'https:';
    const isGuarded = !isSecure && !allowsPlainHttp;
    if (isGuarded && isIP(host) && !isNear(host)) throw new Error(plainHttpRefused(url));
    const settings = {
      keepAlive: true,
      timeout: idleMs,
      maxFreeSockets: 256,
      ...(isGuarded && { lookup: createNearLookup() }),
    };
    // Said here, so that NODE_TLS_REJECT_UNAUTHORIZED does not decide it.
    this.#agent = isSecure
      ? new HttpsAgent({ ...settings, rejectUnauthorized: true })
      : new HttpAgent(settings);
    limitConnecting(this.#agent, connectMs, isSecure ? 'secureConnect' : 'connect');
    this.#send = isSecure ? httpsRequest : httpRequest;
    this.#heads = new Deadlines(headMs);
    this.bodies = new Deadlines(bodyMs);
  }

  /**
   * Sends a request.
   * @returns drops it: nothing of its answer is read any more, and the listener hears nothing
   */
  send({ method, path, headers, body }: WireRequest, listener: WireListener): () => void {
    const { url } = this.#options;
    const framing = body === undefined ? [] : ['content-length', String(Buffer.byteLength(body))];
    let outgoing: ClientRequest | undefined;
    let isOver = false;
    const fail = (failure: WireFailure): void => {
      if (isOver) return;
      isOver = true;
      forgetDeadline();
      outgoing?.destroy();
      listener.failed(failure);
    };
    const forgetDeadline = this.#heads.set(() => fail({ reason: 'backend_timed_out' }));
    const options = {
      protocol: url.protocol,
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port,
      path,
      method,
      agent: this.#agent,
      maxHeaderSize,
      headers: ['host', url.host, ...headers, ...framing],
    };
    try {
      outgoing = this.#send(options);
    } catch (error) {
      // A header that Node does not send, which says nothing of the server. Who asks hears nothing before it has asked.
      queueMicrotask(() => fail({ reason: 'backend_refused', code: (error as NodeJS.ErrnoException).code }));
      return () => {
        isOver = true;
        forgetDeadline();
      };
    }
    const sent = outgoing;
    sent.on('response', (answer) => {
      if (isOver) return;
      const { statusCode: status = 0 } = answer;
      if (status >= 300 && status < 400) {
        fail({ reason: 'backend_redirected' });
        return;
      }
      isOver = true;
      forgetDeadline();
      listener.head(answer);
    });
    sent.on('error', (error: NodeJS.ErrnoException) => fail(failureOf(error, sent)));
    sent.on('close', () => fail({ reason: 'backend_ended' }));
    sent.end(body);
    return () => {
      isOver = true;
      forgetDeadline();
      sent.destroy();
    };
  }

  /** Ends all connections. */
  close(): void {
    this.#agent.destroy();
  }
}

function failureOf(error: NodeJS.ErrnoException, outgoing: ClientRequest): WireFailure {
  const { code } = error;
  if (code === publicAddressCode) return { reason: 'backend_not_private', code };
  if (code !== undefined && unverified.test(code)) return { reason: 'backend_certificate_invalid', code };
  if (code === 'HPE_HEADER_OVERFLOW') return { reason: 'backend_answer_too_large', code };
  if (code?.startsWith('HPE_')) return { reason: 'backend_answer_unreadable', code };
  const { socket } = outgoing;
  if (!socket || !usable.has(socket)) return { reason: 'backend_unreachable', code };
  return { reason: 'backend_ended', code, isStale: outgoing.reusedSocket };
}

function plainHttpRefused(url: URL): string {
  return `${url.origin} is on the public internet, where http can be read and changed on the way: use https.`;
}

/** Connections that were ready to be used: before, nothing of a request has left. */
const usable = new WeakSet<Duplex>();

/** Has each new connection end that is not ready in time. */
function limitConnecting(agent: HttpAgent, connectMs: number, ready: 'connect' | 'secureConnect'): void {
  const create = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const made: Duplex | null | undefined = create(options, callback);
    const socket = made as Socket | undefined;
    const timer = setTimeout(() => socket?.destroy(new ConnectTimeout('not connected in time')), connectMs);
    socket?.once('close', () => clearTimeout(timer));
    socket?.once(ready, () => {
      clearTimeout(timer);
      usable.add(socket);
    });
    return made;
  };
}
