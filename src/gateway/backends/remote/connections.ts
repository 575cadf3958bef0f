import { AsyncLocalStorage } from 'node:async_hooks';
import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import { createRequire } from 'node:module';
import { isIP, type Socket } from 'node:net';
import type { buildConnector, Client, Dispatcher } from 'undici';
import { isLoopbackAddress, isPrivateAddress } from '../../../net/address.ts';

/** Address and limits of the connections to one backend. */
export interface ConnectionsOptions {
  url: URL;
  /** Maximum time for a connection to be established, in milliseconds. */
  connectMs: number;
  /** Allows plain HTTP to addresses of the public internet. */
  allowsPlainHttp: boolean;
}

/** Loads undici with the first backend that has a URL: it takes about as long to load as a third of the whole start. */
const loadUndici = (): typeof import('undici') => createRequire(import.meta.url)('undici');

/** An idle connection is closed after this time, in milliseconds; many servers close theirs after 5 seconds. */
const idleMs = 4_000;

/** A connection is closed this much earlier than its server announces, in milliseconds. */
const marginMs = 1_000;

/** Maximum number of idle connections. */
const maxFree = 256;

/** Maximum size of the head of a response, in bytes. */
const maxHeadBytes = 32 * 1024;

const clientOptions: Client.Options = {
  pipelining: 1,
  keepAliveTimeout: idleMs,
  keepAliveMaxTimeout: idleMs,
  keepAliveTimeoutThreshold: marginMs,
  maxHeaderSize: maxHeadBytes,
  // `Wire` limits the head together with the connection, and its callers limit the body.
  headersTimeout: 0,
  bodyTimeout: 0,
};

/** One connection, for one request at a time. */
export interface Connection {
  readonly client: Client;
  /** Set while it is connected. */
  socket: Socket | undefined;
  /** Set if a response came over this socket. */
  hasServed: boolean;
}

/**
 * The connections to one backend: reused, verified if they are TLS, without a proxy. Each is a `Client` of undici and not
 * a `Pool`, because only then it is known if a request was sent over a connection that had been idle: such a request may
 * be repeated if the server closed the connection at the same moment.
 */
export class Connections {
  readonly #origin: URL;
  readonly #connect: buildConnector.connector;
  readonly #all = new Set<Connection>();
  /** The connection used last is last, so that surplus connections stay idle and are closed. */
  readonly #free: Connection[] = [];
  /** A connection serves many callers, so it runs in the asynchronous context of none of them. */
  readonly #outsideOfRequests = AsyncLocalStorage.snapshot();

  /** @throws Error if messages must not be sent to the URL */
  constructor({ url, connectMs, allowsPlainHttp }: ConnectionsOptions) {
    const isSecure = url.protocol === 'https:';
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const isGuarded = !isSecure && !allowsPlainHttp;
    if (isGuarded && isIP(host) && !isNear(host)) throw new Error(plainHttpRefused(url));
    this.#origin = new URL(url.origin);
    this.#connect = loadUndici().buildConnector({
      timeout: connectMs,
      noDelay: true,
      keepAliveInitialDelay: 1_000,
      // Set explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED has no effect.
      rejectUnauthorized: true,
      ...(isGuarded && { lookup: createNearLookup() }),
    });
  }

  /** Returns an idle connection, or a new one. */
  take(): Connection {
    for (let free = this.#free.pop(); free; free = this.#free.pop()) if (free.socket) return free;
    return this.#outsideOfRequests(() => this.#open());
  }

  /** Sends a request over a connection; its handler runs in the asynchronous context of no caller. */
  dispatch(
    connection: Connection,
    request: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): void {
    this.#outsideOfRequests(() => connection.client.dispatch(request, handler));
  }

  /** Takes back a connection whose response is complete. If its server closes it now, undici connects again. */
  giveBack(connection: Connection): void {
    connection.hasServed = true;
    // A server that responds before it was sent the whole request does not read the rest.
    const isUsable = connection.socket?.writableLength === 0 && this.#free.length < maxFree;
    if (isUsable) this.#free.push(connection);
    else setImmediate(() => this.end(connection));
  }

  /** Closes a connection. */
  end(connection: Connection): void {
    if (!this.#all.delete(connection)) return;
    connection.client.destroy(new Error('the connection is not needed'), () => undefined);
  }

  /** Closes all connections. */
  close(): void {
    this.#free.length = 0;
    for (const connection of this.#all) this.end(connection);
  }

  #open(): Connection {
    const client = new (loadUndici().Client)(this.#origin, {
      ...clientOptions,
      connect: (options, done) =>
        this.#connect(options, (...connected) => {
          connection.socket = connected[1] ?? undefined;
          connection.hasServed = false;
          done(...connected);
        }),
    });
    const connection: Connection = { client, socket: undefined, hasServed: false };
    client.on('disconnect', () => {
      connection.socket = undefined;
      const at = this.#free.indexOf(connection);
      if (at === -1) return;
      this.#free.splice(at, 1);
      this.end(connection);
    });
    this.#all.add(connection);
    return connection;
  }
}

function plainHttpRefused(url: URL): string {
  return `${url.origin} is on the public internet, where http can be read and changed on the way: use https.`;
}

/** Code of the error for a host that is not near. */
export const publicAddressCode = 'PUBLIC_ADDRESS';

type LookupAnswer = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/** Finds all addresses of a host, as `dns.lookup` does. */
type FindAll = (
  host: string,
  options: LookupOptions & { all: true },
  answer: (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void,
) => void;

/**
 * Returns true if an address is one of this machine or of a private network, to which the operator may use a connection
 * without TLS.
 */
export function isNear(address: string): boolean {
  return isLoopbackAddress(address) || isPrivateAddress(address);
}

/**
 * Creates a lookup for connections without TLS. If an address of a host is on the public internet, the lookup fails,
 * with {@link publicAddressCode}, before anything is sent there.
 * @param find asks the system by default, which knows names of its own network
 */
export function createNearLookup(
  find: FindAll = lookup,
): (host: string, options: LookupOptions, answer: LookupAnswer) => void {
  return (host, options, answer) => {
    find(host, { ...options, all: true }, (error, found) => {
      const [first] = found ?? [];
      if (error) answer(error, []);
      else if (!first || !found.every(({ address }) => isNear(address)))
        answer(
          Object.assign(new Error('the host is on the public internet'), { code: publicAddressCode }),
          [],
        );
      else if (options.all) answer(null, found);
      else answer(null, first.address, first.family);
    });
  };
}
