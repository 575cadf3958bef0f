import { AsyncLocalStorage } from 'node:async_hooks';
import { isIP, connect as tcpConnect } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { Deadlines } from '../../../mcp/deadlines.ts';
import { Connection } from './connection.ts';
import { createNearLookup, isNear } from './near-lookup.ts';

/** Where connections lead. */
export interface ConnectionsOptions {
  url: URL;
  /** How long one may take until it can be used, in milliseconds. */
  connectMs: number;
  /** Whether http may be spoken with addresses of the public internet. */
  allowsPlainHttp: boolean;
}

/** Servers end connections nobody uses; many after 5 s, and not all of them say so. */
const idleMs = 4_000;

/** Most connections that are kept while nobody uses them. */
const maxFree = 256;

/**
 * Where all connections read to, one after another; what came is copied out of it at once. Without it Node takes this much
 * anew for every read, and has it collected.
 */
const received = Buffer.allocUnsafeSlow(64 * 1024);

function copyOfReceived(length: number): Buffer {
  const copy = Buffer.allocUnsafe(length);
  received.copy(copy, 0, 0, length);
  return copy;
}

/** The connections to one backend: kept open and used again, verified where they are TLS. No proxy is asked. */
export class Connections {
  readonly #connectMs: number;
  readonly #host: string;
  readonly #port: number;
  readonly #isSecure: boolean;
  readonly #lookup: ReturnType<typeof createNearLookup> | undefined;
  readonly #idle = new Deadlines(idleMs);
  readonly #all = new Set<Connection>();
  /** One is used by many: what happens on it happens in the context of none of them, not in that of who was the first. */
  readonly #outsideOfRequests = AsyncLocalStorage.snapshot();
  /** The last was used last: so that those that are too many are not used until they end. */
  readonly #free: Connection[] = [];
  #tlsSession: Buffer | undefined;

  /** @throws Error where the URL is one that messages are not sent to */
  constructor({ url, connectMs, allowsPlainHttp }: ConnectionsOptions) {
    this.#connectMs = connectMs;
    this.#host = url.hostname.replace(/^\[|\]$/g, '');
    this.#isSecure = url.protocol === 'https:';
    this.#port = Number(url.port || (this.#isSecure ? 443 : 80));
    const isGuarded = !this.#isSecure && !allowsPlainHttp;
    if (isGuarded && isIP(this.#host) && !isNear(this.#host)) throw new Error(plainHttpRefused(url));
    this.#lookup = isGuarded ? createNearLookup() : undefined;
  }

  /** Gives a connection nobody uses, or one that is being made. */
  take(): Connection {
    for (let kept = this.#free.pop(); kept; kept = this.#free.pop()) {
      kept.forgetIdle?.();
      if (performance.now() < kept.freeUntilMs) return kept;
      kept.destroy();
    }
    return this.#outsideOfRequests(() => this.#open());
  }

  /** Ends all of them. */
  close(): void {
    for (const connection of [...this.#all]) connection.destroy();
  }

  #open(): Connection {
    const connection: Connection = new Connection({
      ...this.#connect((length) => connection.take(copyOfReceived(length))),
      connectMs: this.#connectMs,
      idleMs,
      onFree: (free) => this.#keep(free),
      onClosed: (closed) => this.#forget(closed),
    });
    this.#all.add(connection);
    return connection;
  }

  #connect(
    onRead: (length: number) => void,
  ): Pick<ConstructorParameters<typeof Connection>[0], 'socket' | 'ready'> {
    const place = {
      host: this.#host,
      port: this.#port,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: 1_000,
      onread: {
        buffer: received,
        callback(length: number) {
          onRead(length);
          return true;
        },
      },
      ...(this.#lookup && { lookup: this.#lookup }),
    };
    if (!this.#isSecure) return { socket: tcpConnect(place), ready: 'connect' };
    const socket = tlsConnect({
      ...place,
      ...(!isIP(this.#host) && { servername: this.#host }),
      ...(this.#tlsSession && { session: this.#tlsSession }),
      ALPNProtocols: ['http/1.1'],
      // Said here, so that NODE_TLS_REJECT_UNAUTHORIZED does not decide it.
      rejectUnauthorized: true,
    });
    socket.on('session', (session) => {
      this.#tlsSession = session;
    });
    socket.on('error', () => {
      this.#tlsSession = undefined;
    });
    return { socket, ready: 'secureConnect' };
  }

  #keep(connection: Connection): void {
    if (this.#free.length >= maxFree) {
      connection.destroy();
      return;
    }
    connection.forgetIdle = this.#idle.set(() => connection.destroy());
    this.#free.push(connection);
  }

  #forget(connection: Connection): void {
    connection.forgetIdle?.();
    this.#all.delete(connection);
    const at = this.#free.indexOf(connection);
    if (at !== -1) this.#free.splice(at, 1);
  }
}

function plainHttpRefused(url: URL): string {
  return `${url.origin} is on the public internet, where http can be read and changed on the way: use https.`;
}
