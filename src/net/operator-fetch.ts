import { lookup } from 'node:dns/promises';
import { isLoopbackAddress, isPrivateAddress, isPublicAddress } from './address.ts';
import { FetchRefused } from './fetch-refused.ts';
import { type Resolve, readBoundedBody, sendPinned, settleBefore, toRefusal } from './pinned-request.ts';

/** A request to a server that the operator named. */
export interface OperatorRequest {
  method?: string | undefined;
  headers?: RequestInit['headers'] | undefined;
  body?: unknown;
  signal?: AbortSignal | null | undefined;
}

/** Where such servers may live, and the bounds of their answers. */
export interface OperatorFetchOptions {
  /** Whether an address of a private network may be connected to. */
  allowPrivateNetwork: boolean;
  /** Whether this very machine may be, and without https. */
  dangerouslyFromLoopback: boolean;
  /** Largest body; 1 MiB by default. */
  maxBytes?: number;
  /** From the question to the name server to the last byte; ten seconds by default. */
  timeoutMs?: number;
  /** Whether a redirect is an answer like any other; refused by default. It is never followed. */
  redirects?: 'given' | 'refused';
  /** Returns the addresses of a host; asks the system by default, which knows names of its own network. */
  resolve?: Resolve;
}

/**
 * Sends one request to a server that the operator named, and gives its answer whole.
 * @param request its body is text, a form in URL encoding, or bytes
 * @throws FetchRefused
 */
export type OperatorFetch = (url: string | URL, request?: OperatorRequest) => Promise<Response>;

/** Largest header of an answer, in bytes. */
const maxHeaderBytes = 32_768;

const defaultMaxBytes = 1024 * 1024;
const defaultTimeoutMs = 10_000;

/** Statuses whose answers have no body (Fetch standard, "null body status"). */
const bodilessStatuses = [101, 103, 204, 205, 304];

const askSystem: Resolve = async (host) =>
  (await lookup(host, { all: true, verbatim: false })).map(({ address }) => address);

function textOf(body: unknown): string | undefined {
  return body === undefined || body === null ? undefined : String(body);
}

/**
 * Creates the fetch for servers that the operator named, such as upstreams: https alone, no redirect, no proxy, no
 * connection that is used again, just the addresses that were looked at, bounded time and size (A12-01, T-084, T-088).
 */
export function createOperatorFetch(options: OperatorFetchOptions): OperatorFetch {
  const { allowPrivateNetwork, dangerouslyFromLoopback, resolve = askSystem } = options;
  const { maxBytes = defaultMaxBytes, timeoutMs = defaultTimeoutMs, redirects = 'refused' } = options;
  const mayConnect = (address: string): boolean =>
    isPublicAddress(address) ||
    (allowPrivateNetwork && isPrivateAddress(address)) ||
    (dangerouslyFromLoopback && isLoopbackAddress(address));

  async function addressesOf(host: string, signal: AbortSignal): Promise<string[]> {
    const addresses = await settleBefore(signal, resolve(host, signal));
    if (addresses.length === 0) throw new FetchRefused('unreachable', 'the host has no address');
    if (!addresses.every(mayConnect))
      throw new FetchRefused('not_public', 'the host is not, or not only, where it may be');
    return addresses;
  }

  return async (target, { method, headers: given, body, signal: ending } = {}) => {
    const url = new URL(target);
    const isPlain = url.protocol === 'http:' && dangerouslyFromLoopback;
    if ((url.protocol !== 'https:' && !isPlain) || url.username !== '' || url.password !== '')
      throw new FetchRefused('not_https', 'only https URLs without a user name are fetched');
    const limit = AbortSignal.timeout(timeoutMs);
    const signal = ending ? AbortSignal.any([ending, limit]) : limit;
    const headers = new Headers(given);
    if (!headers.has('accept')) headers.set('accept', 'application/json');
    headers.set('accept-encoding', 'identity');
    headers.set('user-agent', 'gatehouse');
    try {
      const addresses = await addressesOf(url.hostname.replace(/^\[|\]$/g, ''), signal);
      if (isPlain && !addresses.every(isLoopbackAddress))
        throw new FetchRefused('not_https', 'only this machine is asked without https');
      const sent = body instanceof Uint8Array ? body : textOf(body);
      // Node.js frames the bodies of some methods, DELETE among them, only by the length it is told.
      if (sent !== undefined) headers.set('content-length', String(Buffer.byteLength(sent)));
      const response = await sendPinned(url, addresses, {
        method,
        headers: Object.fromEntries(headers),
        body: sent,
        maxHeaderBytes,
        signal,
      });
      try {
        const { statusCode: status = 0 } = response;
        if (status >= 300 && status < 400 && status !== 304 && redirects === 'refused')
          throw new FetchRefused('redirected', 'the host answered with a redirect, which is not followed');
        const bytes = await readBoundedBody(response, maxBytes);
        const pairs = Object.entries(response.headersDistinct).flatMap(([name, values = []]) =>
          values.map((value): [string, string] => [name, value]),
        );
        return new Response(bodilessStatuses.includes(status) ? null : new Uint8Array(bytes), {
          status,
          headers: pairs,
        });
      } finally {
        response.destroy();
      }
    } catch (cause) {
      throw toRefusal(cause, limit);
    }
  };
}
