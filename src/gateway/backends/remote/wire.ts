import { isIPv6, type Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import { Deadlines } from '../../../mcp/building-blocks.ts';
import { headerNamePattern, headerValuePattern } from '../../../oauth/headers.ts';
import { loggable } from '../../../observability/loggable.ts';
import {
  type BodyTaker,
  createDecodingTaker,
  type DecodingTaker,
  isReadableCoding,
  type WireAnswer,
  type WireFailure,
} from './answer-body.ts';
import { type Connection, Connections, type ConnectionsOptions, publicAddressCode } from './connections.ts';

/** Address and time limits of a backend. */
interface WireOptions extends ConnectionsOptions {
  /** Maximum time until the head of a response, the connection included, in milliseconds. */
  headMs: number;
  /** Maximum time for the rest of a response that is not a stream, in milliseconds. */
  bodyMs: number;
}

/** A request to a backend. */
export interface WireRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** Path and query. */
  path: string;
  /** Names and values in turn, a byte a character; `host`, `connection`, `accept-encoding` and `content-length` are added. */
  headers: readonly string[];
  body?: string;
}

/** Takes the result of a request: one call of one of these. */
interface WireListener {
  /** The head of a response that is not a redirect. */
  head(answer: WireAnswer): void;
  failed(failure: WireFailure): void;
}

const pathForm = /^\/[\x21-\x7e]*$/;

/**
 * Sends requests to one backend with the HTTP client of undici (MIT, of the Node.js project: the client that `fetch` is
 * made of, with limits for heads and without the cost of web streams). Redirects are never followed (T-157), no proxy is
 * used, and a response is not repeated or cached.
 */
export class Wire {
  readonly #origin: string;
  readonly #connections: Connections;
  readonly #heads: Deadlines;
  /** Limits of {@link WireOptions.bodyMs}, for readers of bodies. */
  readonly bodies: Deadlines;

  /** @throws Error if messages must not be sent to the URL */
  constructor(options: WireOptions) {
    this.#origin = options.url.origin;
    this.#connections = new Connections(options);
    this.#heads = new Deadlines(options.headMs);
    this.bodies = new Deadlines(options.bodyMs);
  }

  /**
   * Sends a request. The listener is not called before this returns.
   * @returns drops the request: its response is not read any more, and the listener is not called
   */
  send(request: WireRequest, listener: WireListener): () => void {
    // Appended to the origin, never resolved as a reference: a path such as `//` is not a reference.
    const base = (): URL | null => URL.parse(this.#origin + request.path);
    const exchange = new Exchange(listener, this.#heads, this.#connections, base);
    if (isSendable(request)) exchange.begin(request);
    // The failure says nothing about the server.
    else queueMicrotask(() => exchange.fail({ reason: 'backend_refused', code: 'ERR_INVALID_CHAR' }));
    return () => exchange.drop();
  }

  /** Closes all connections. */
  close(): void {
    this.#connections.close();
  }
}

/** Returns true if a request has only what RFC 9112 sections 3 and 5 allow. */
function isSendable({ path, headers }: WireRequest): boolean {
  if (!pathForm.test(path)) return false;
  for (let at = 0; at < headers.length; at += 2)
    if (!headerNamePattern.test(headers[at] ?? '') || !headerValuePattern.test(headers[at + 1] ?? ''))
      return false;
  return true;
}

/** A request and its response. */
class Exchange implements Dispatcher.DispatchHandler, WireAnswer {
  status = 0;
  headers: WireAnswer['headers'] = new Map();
  readonly #forgetDeadline: () => void;
  readonly #connections: Connections;
  readonly #base: () => URL | null;
  /** Until the head has come. */
  #listener: WireListener | undefined;
  #taker: BodyTaker | undefined;
  #decoding: DecodingTaker | undefined;
  #connection: Connection | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #socket: Socket | undefined;
  /** Bytes that came over the connection before the request, if it served another one. */
  #bytesBefore: number | undefined;
  #isOver = false;
  /** Pauses of the reading that have not ended. */
  readonly #stops = new Set<object>();

  /** @param base returns the requested URL */
  constructor(listener: WireListener, heads: Deadlines, connections: Connections, base: () => URL | null) {
    this.#listener = listener;
    this.#connections = connections;
    this.#base = base;
    // A request that no connection has taken so far was not sent.
    this.#forgetDeadline = heads.set(() =>
      this.#giveUp({ reason: this.#controller ? 'backend_timed_out' : 'backend_unreachable' }),
    );
  }

  begin({ method, path, headers, body }: WireRequest): void {
    const connection = this.#connections.take();
    this.#connection = connection;
    this.#connections.dispatch(
      connection,
      { method, path, headers: ['accept-encoding', 'identity', ...headers], body: body ?? null },
      this,
    );
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    const { socket, hasServed } = this.#connection ?? {};
    this.#socket = socket;
    this.#bytesBefore = hasServed ? socket?.bytesRead : undefined;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200 || this.#isOver) return;
    const fields = new Map<string, string>();
    for (const [name, value = ''] of Object.entries(headers))
      fields.set(
        name,
        typeof value === 'string' ? value.trimEnd() : value.map((part) => part.trimEnd()).join(', '),
      );
    if (status >= 300 && status < 400) {
      const location = redirectTarget(fields.get('location'), this.#base());
      this.#giveUp({ reason: 'backend_redirected', location });
      return;
    }
    const coding = fields.get('content-encoding');
    if (!isReadableCoding(coding)) {
      this.#giveUp({ reason: 'backend_answer_unreadable', code: `content-encoding ${coding?.slice(0, 40)}` });
      return;
    }
    const listener = this.#listener;
    this.#listener = undefined;
    this.#forgetDeadline();
    this.status = status;
    this.headers = fields;
    listener?.head(this);
  }

  onResponseData(_controller: Dispatcher.DispatchController, bytes: Buffer): void {
    this.#taker?.data(bytes);
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const connection = this.#connection;
    this.#connection = undefined;
    if (connection) this.#connections.giveBack(connection);
    const taker = this.#taker;
    this.#taker = undefined;
    taker?.ended();
  }

  onResponseError(
    _controller: Dispatcher.DispatchController | undefined,
    error: NodeJS.ErrnoException,
  ): void {
    if (this.#isOver) return;
    const failure = this.#failureOf(error);
    this.#endConnection();
    this.fail(failure);
  }

  /** There is no response, or it is not complete. */
  fail(failure: WireFailure): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#forgetDeadline();
    const listener = this.#listener;
    this.#listener = undefined;
    if (listener) listener.failed(failure);
    else this.#taker?.ended(failure.reason === 'backend_not_http' ? failure.reason : 'backend_ended');
  }

  read(taker: BodyTaker): void {
    const coding = this.headers.get('content-encoding');
    // The request asks for a body without coding, and some servers code it all the same.
    this.#decoding = createDecodingTaker(coding, taker, () => this.stopReading());
    this.#taker = this.#decoding ?? taker;
  }

  pause(forMs: number): void {
    if (this.#stops.size === 0) setTimeout(this.stopReading(), forMs).unref();
  }

  stopReading(): () => void {
    const stop = {};
    this.#stops.add(stop);
    this.#controller?.pause();
    return () => {
      if (this.#stops.delete(stop) && this.#stops.size === 0) this.#controller?.resume();
    };
  }

  drop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const taker = this.#taker;
    this.#listener = undefined;
    this.#taker = undefined;
    this.#forgetDeadline();
    this.#endConnection();
    this.#decoding?.drop();
    taker?.dropped?.();
  }

  #endConnection(): void {
    if (this.#connection) this.#connections.end(this.#connection);
    this.#connection = undefined;
  }

  #giveUp(failure: WireFailure): void {
    const listener = this.#listener;
    this.drop();
    listener?.failed(failure);
  }

  #failureOf(error: NodeJS.ErrnoException): WireFailure {
    const { code } = error;
    if (code === publicAddressCode) return { reason: 'backend_not_private', code };
    if (code === 'UND_ERR_HEADERS_OVERFLOW') return { reason: 'backend_answer_too_large', code };
    if (error.name === 'HTTPParserError' || (code !== undefined && notHttp.has(code)))
      return { reason: 'backend_not_http', code };
    if (code !== undefined && unverified.test(code)) return { reason: 'backend_certificate_invalid', code };
    if (!this.#controller) return { reason: 'backend_unreachable', code, address: triedAddresses(error) };
    return {
      reason: 'backend_ended',
      code,
      isStale: this.#bytesBefore !== undefined && this.#bytesBefore === this.#socket?.bytesRead,
    };
  }
}

/** Codes of undici for a response with a wrong length, and for one that switches protocols. */
const notHttp: ReadonlySet<string> = new Set(['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'ERR_ASSERTION']);
const unverified = /^(ERR_TLS_|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERR_SSL_|HOSTNAME_MISMATCH|EPROTO)/;

/** Returns the addresses to which a connection was tried, if the system names them: a name may have several. */
function triedAddresses(error: NodeJS.ErrnoException | undefined): string | undefined {
  const all: { address?: string; port?: number }[] =
    error instanceof AggregateError ? error.errors : [Object(error)];
  const tried = all.flatMap(({ address, port }) =>
    address === undefined ? [] : [`${isIPv6(address) ? `[${address}]` : address}:${port}`],
  );
  return tried.length > 0 ? tried.join(', ') : undefined;
}

/**
 * Describes the target of a redirect for the log: its origin without the path, which may contain secrets (T-194).
 * @param location the header, one character a byte
 * @param base the requested URL
 * @returns undefined if it is no HTTP URL
 */
export function redirectTarget(location: string | undefined, base: URL | null): string | undefined {
  const target = location === undefined || base === null ? null : URL.parse(location, base.href);
  if (target === null || !/^https?:$/.test(target.protocol)) return undefined;
  return loggable(`${target.origin}/${target.pathname === '/' ? '' : '…'}`);
}
