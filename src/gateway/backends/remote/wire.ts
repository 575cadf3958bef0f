import { Deadlines } from '../../../mcp/deadlines.ts';
import { headerNamePattern, headerValuePattern } from '../../../oauth/headers.ts';
import type { AnswerHead } from './answer-parser.ts';
import type { Connection, ConnectionUser, RequestBytes } from './connection.ts';
import { Connections, type ConnectionsOptions } from './connections.ts';
import { createDecodingTaker, type DecodingTaker, isReadableCoding } from './content-coding.ts';
import { redirectTarget } from './redirect-target.ts';
import type { BodyTaker, WireAnswer, WireFailure } from './wire-answer.ts';

/** How a backend is reached. */
export interface WireOptions extends ConnectionsOptions {
  /** How long the head of an answer may take, the connection included, in milliseconds. */
  headMs: number;
  /** How long the rest of an answer that is no stream may take, in milliseconds. */
  bodyMs: number;
}

/** A request to a backend. */
export interface WireRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** Path and query. */
  path: string;
  /** Names and values in turn, a byte a character; `host`, `connection`, `accept-encoding` and `content-length` are added. */
  headers: readonly string[];
  /** Whether the very list of headers comes with other requests, too, and never changes: then it is checked once. */
  keepsHeaders?: boolean;
  body?: string;
}

/** What comes of a request: one of both, once. */
export interface WireListener {
  /** The head of an answer that is no redirect. */
  head(answer: WireAnswer): void;
  failed(failure: WireFailure): void;
}

const pathForm = /^[\x21-\x7e]+$/;

/**
 * Sends requests to one backend. Redirects are never followed (T-157), and nothing of the process but these bytes goes
 * out. Not `node:http`, whose requests and answers take three times as long, nor `fetch`, which takes longer still.
 */
export class Wire {
  readonly #url: URL;
  readonly #connections: Connections;
  readonly #heads: Deadlines;
  /** Lists of headers that are kept, as they were written down. */
  readonly #fields = new WeakMap<readonly string[], string>();
  /** See {@link WireOptions.bodyMs}; kept by who reads. */
  readonly bodies: Deadlines;

  /** @throws Error where the URL is one that messages are not sent to */
  constructor(options: WireOptions) {
    this.#url = options.url;
    this.#connections = new Connections(options);
    this.#heads = new Deadlines(options.headMs);
    this.bodies = new Deadlines(options.bodyMs);
  }

  /**
   * Sends a request. Who asks hears nothing before it has asked.
   * @returns drops it: nothing of its answer is read any more, and the listener hears nothing
   */
  send(request: WireRequest, listener: WireListener): () => void {
    // Behind the origin, never as a reference: a path such as `//` is none.
    const base = (): URL | null => URL.parse(this.#url.origin + request.path);
    const exchange = new Exchange(listener, this.#heads, base);
    const bytes = this.#write(request);
    if (bytes) exchange.begin(this.#connections.take(), bytes);
    // It says nothing of the server.
    else queueMicrotask(() => exchange.failed({ reason: 'backend_refused', code: 'ERR_INVALID_CHAR' }));
    return () => exchange.drop();
  }

  /** Ends all connections. */
  close(): void {
    this.#connections.close();
  }

  /**
   * Writes a request down, so that it leaves in one piece.
   * @returns undefined where it has something that no request may have
   * @see RFC 9112 sections 3, 5 and 6.2
   */
  #write({ method, path, headers, keepsHeaders, body }: WireRequest): RequestBytes | undefined {
    if (!pathForm.test(path)) return undefined;
    const fields = keepsHeaders ? this.#fieldsOf(headers) : writeFields(headers);
    if (fields === undefined) return undefined;
    const head = `${method} ${path} HTTP/1.1\r\nhost: ${this.#url.host}\r\nconnection: keep-alive\r\naccept-encoding: identity\r\n${fields}`;
    if (body === undefined) return `${head}\r\n`;
    const length = Buffer.byteLength(body);
    const whole = `${head}content-length: ${length}\r\n\r\n`;
    // Nearly every body is ASCII: then all of it can be written as it stands.
    if (length === body.length) return whole + body;
    const bytes = Buffer.allocUnsafe(whole.length + length);
    bytes.write(whole, 0, 'latin1');
    bytes.write(body, whole.length, 'utf8');
    return bytes;
  }

  /** Writes a list of headers down that is kept. @returns as {@link writeFields} */
  #fieldsOf(headers: readonly string[]): string | undefined {
    const known = this.#fields.get(headers);
    if (known !== undefined) return known;
    const fields = writeFields(headers);
    if (fields !== undefined) this.#fields.set(headers, fields);
    return fields;
  }
}

/** Writes headers down. @returns undefined where one of them is none that a request may have */
function writeFields(headers: readonly string[]): string | undefined {
  let fields = '';
  for (let at = 0; at < headers.length; at += 2) {
    const [name = '', value = ''] = [headers[at], headers[at + 1]];
    if (!headerNamePattern.test(name) || !headerValuePattern.test(value)) return undefined;
    fields += `${name}: ${value}\r\n`;
  }
  return fields;
}

/** A request, and its answer. */
class Exchange implements ConnectionUser, WireAnswer {
  status = 0;
  headers: WireAnswer['headers'] = new Map();
  readonly #forgetDeadline: () => void;
  readonly #base: () => URL | null;
  /** Until the head has come. */
  #listener: WireListener | undefined;
  #taker: BodyTaker | undefined;
  #decoding: DecodingTaker | undefined;
  /** Until the answer is whole. */
  #connection: Connection | undefined;

  /** @param base gives the URL it goes to, where there is one */
  constructor(listener: WireListener, heads: Deadlines, base: () => URL | null) {
    this.#listener = listener;
    this.#base = base;
    this.#forgetDeadline = heads.set(() => this.#giveUp({ reason: 'backend_timed_out' }));
  }

  begin(connection: Connection, request: RequestBytes): void {
    this.#connection = connection;
    connection.use(this, request);
  }

  head({ status, headers }: AnswerHead): void {
    if (status >= 300 && status < 400) {
      const location = redirectTarget(headers.get('location'), this.#base());
      this.#giveUp({ reason: 'backend_redirected', location });
      return;
    }
    const coding = headers.get('content-encoding');
    if (!isReadableCoding(coding)) {
      this.#giveUp({ reason: 'backend_answer_unreadable', code: `content-encoding ${coding?.slice(0, 40)}` });
      return;
    }
    const listener = this.#listener;
    this.#listener = undefined;
    this.#forgetDeadline();
    this.status = status;
    this.headers = headers;
    listener?.head(this);
  }

  body(bytes: Buffer): void {
    this.#taker?.data(bytes);
  }

  ended(): void {
    this.#connection = undefined;
    const taker = this.#taker;
    this.#taker = undefined;
    taker?.ended();
  }

  failed(failure: WireFailure): void {
    this.#connection = undefined;
    this.#forgetDeadline();
    const listener = this.#listener;
    this.#listener = undefined;
    if (listener) listener.failed(failure);
    else this.#taker?.ended(failure.reason === 'backend_not_http' ? failure.reason : 'backend_ended');
  }

  read(taker: BodyTaker): void {
    const coding = this.headers.get('content-encoding');
    // It was asked for a body as it is, and some servers code it all the same.
    this.#decoding = createDecodingTaker(coding, taker, () => this.stopReading());
    this.#taker = this.#decoding ?? taker;
  }

  pause(forMs: number): void {
    this.#connection?.pause(forMs);
  }

  stopReading(): () => void {
    return this.#connection?.stopReading() ?? (() => undefined);
  }

  drop(): void {
    const taker = this.#taker;
    this.#listener = undefined;
    this.#taker = undefined;
    this.#forgetDeadline();
    this.#connection?.destroy();
    this.#connection = undefined;
    this.#decoding?.drop();
    taker?.dropped?.();
  }

  #giveUp(failure: WireFailure): void {
    const listener = this.#listener;
    this.drop();
    listener?.failed(failure);
  }
}
