import { isIPv6, type Socket } from 'node:net';
import { AnswerError, type AnswerHead, AnswerParser } from './answer-parser.ts';
import { publicAddressCode } from './near-lookup.ts';
import type { WireFailure } from './wire-answer.ts';

/** A request under way on a connection. */
export interface ConnectionUser {
  head(head: AnswerHead): void;
  body(bytes: Buffer): void;
  /** The answer is whole. */
  ended(): void;
  /** There is none, or it broke off. */
  failed(failure: WireFailure): void;
}

/** A request as it is sent; where it is a text, each of its characters is a byte. */
export type RequestBytes = Buffer | string;

/** What a connection is made with. */
export interface ConnectionOptions {
  /** One that has begun to connect. */
  socket: Socket;
  /** What it emits when it can be used. */
  ready: 'connect' | 'secureConnect';
  /** How long that may take, in milliseconds. */
  connectMs: number;
  /** How long it is kept while nobody uses it, in milliseconds; shorter where the server says so. */
  idleMs: number;
  /** Another request may be sent over it. */
  onFree(connection: Connection): void;
  /** It is closed. */
  onClosed(connection: Connection): void;
}

/** Largest head of an answer, in bytes. */
const maxHeadBytes = 32 * 1024;

/** How much earlier than a server we let go of a connection, in milliseconds: what it closes may cross a request. */
const marginMs = 1_000;

const unverified = /^(ERR_TLS_|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERR_SSL_|HOSTNAME_MISMATCH|EPROTO)/;

class ConnectTimeout extends Error {
  readonly code = 'CONNECT_TIMEOUT';
}

/** A connection to a backend, for one request at a time. It keeps the process alive while one is under way. */
export class Connection {
  /** Until when it may be used again, by `performance.now()`. */
  freeUntilMs = 0;
  /** Takes back that it is closed when nobody has used it. */
  forgetIdle: (() => void) | undefined;
  readonly #options: ConnectionOptions;
  readonly #socket: Socket;
  readonly #parser: AnswerParser;
  readonly #connecting: NodeJS.Timeout;
  #user: ConnectionUser | undefined;
  /** The request that is sent once it can be used: before, nothing of it leaves. */
  #waiting: RequestBytes | undefined;
  #isReady = false;
  /** Whether a request was answered over it. */
  #hasServed = false;
  /** Whether anything has come since the request was sent. */
  #hasHeard = false;
  #keptMs = 0;
  /** Stops of the reading of the answer that have not ended. */
  readonly #stops = new Set<object>();
  #isOver = false;

  constructor(options: ConnectionOptions) {
    const { socket, ready, connectMs } = options;
    this.#options = options;
    this.#socket = socket;
    this.#connecting = setTimeout(
      () => socket.destroy(new ConnectTimeout('not connected in time')),
      connectMs,
    );
    this.#parser = new AnswerParser(maxHeadBytes, {
      head: (head) => {
        this.#keptMs = keptFor(head.headers.get('keep-alive'), options.idleMs);
        this.#user?.head(head);
      },
      body: (bytes) => this.#user?.body(bytes),
      end: (isReusable) => this.#end(isReusable),
    });
    socket.once(ready, () => this.#begin());
    socket.on('end', () => {
      this.#parser.close();
      this.#broke(undefined);
    });
    socket.on('error', (error) => this.#broke(error));
    socket.on('close', () => this.#broke(undefined));
  }

  /**
   * Sends a request; only where none is under way.
   * @param request all of it
   */
  use(user: ConnectionUser, request: RequestBytes): void {
    this.#user = user;
    this.#hasHeard = false;
    if (!this.#isReady) this.#waiting = request;
    else {
      if (this.#hasServed) this.#socket.ref();
      this.#socket.write(request, 'latin1');
    }
  }

  /** Reads nothing for a while, in milliseconds, unless it does so already. */
  pause(forMs: number): void {
    if (!this.#socket.isPaused()) setTimeout(this.stopReading(), forMs).unref();
  }

  /** Reads nothing of this answer any more. @returns reads on, unless somebody else has stopped it, too */
  stopReading(): () => void {
    const stop = {};
    this.#stops.add(stop);
    this.#socket.pause();
    return () => {
      if (this.#stops.delete(stop) && this.#stops.size === 0) this.#socket.resume();
    };
  }

  /** Closes it; who uses it hears nothing more. */
  destroy(): void {
    this.#user = undefined;
    this.#broke(undefined);
  }

  #begin(): void {
    clearTimeout(this.#connecting);
    this.#isReady = true;
    if (this.#waiting) this.#socket.write(this.#waiting, 'latin1');
    this.#waiting = undefined;
  }

  /** Takes what has come; its bytes are the connection's to keep. */
  take(bytes: Buffer): void {
    if (this.#isOver) return;
    this.#hasHeard = true;
    try {
      // What nobody asked for is not kept for the next who asks (T-157).
      if (this.#user) this.#parser.push(bytes);
      else this.destroy();
    } catch (error) {
      if (!(error instanceof AnswerError)) throw error;
      this.#broke(error);
    }
  }

  #end(isReusable: boolean): void {
    const user = this.#user;
    this.#user = undefined;
    this.#hasServed = true;
    this.#stops.clear();
    if (this.#socket.isPaused()) this.#socket.resume();
    // A server that answers before it was sent all is one that does not read the rest.
    if (!isReusable || this.#socket.writableLength > 0) this.destroy();
    else {
      this.freeUntilMs = performance.now() + this.#keptMs;
      this.#socket.unref();
      this.#options.onFree(this);
    }
    user?.ended();
  }

  #broke(error: NodeJS.ErrnoException | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#connecting);
    this.#parser.stop();
    this.#socket.destroy();
    const user = this.#user;
    this.#user = undefined;
    this.#options.onClosed(this);
    user?.failed(this.#failureOf(error));
  }

  #failureOf(error: NodeJS.ErrnoException | undefined): WireFailure {
    const code = error?.code;
    if (code === publicAddressCode) return { reason: 'backend_not_private', code };
    if (code === 'ANSWER_HEAD_TOO_LARGE') return { reason: 'backend_answer_too_large', code };
    if (code === 'ANSWER_MALFORMED') return { reason: 'backend_not_http', code };
    if (code !== undefined && unverified.test(code)) return { reason: 'backend_certificate_invalid', code };
    if (!this.#isReady) return { reason: 'backend_unreachable', code, address: triedAddresses(error) };
    return { reason: 'backend_ended', code, isStale: this.#hasServed && !this.#hasHeard };
  }
}

/** Says at which addresses a connection was tried, where the system says so: a name may have several. */
function triedAddresses(error: NodeJS.ErrnoException | undefined): string | undefined {
  const all: { address?: string; port?: number }[] =
    error instanceof AggregateError ? error.errors : [Object(error)];
  const tried = all.flatMap(({ address, port }) =>
    address === undefined ? [] : [`${isIPv6(address) ? `[${address}]` : address}:${port}`],
  );
  return tried.length > 0 ? tried.join(', ') : undefined;
}

/**
 * Reads how long a server keeps a connection nobody uses.
 * @returns milliseconds, at most `idleMs`; none, or less, where that is too short to be of use
 */
function keptFor(keepAlive: string | undefined, idleMs: number): number {
  const seconds = keepAlive === undefined ? undefined : /\btimeout=(\d{1,6})\b/i.exec(keepAlive)?.[1];
  return seconds === undefined ? idleMs : Math.min(idleMs, Number(seconds) * 1000 - marginMs);
}
