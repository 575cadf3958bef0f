import { lookup } from 'node:dns/promises';
import { isLoopbackAddress, isPrivateAddress, isPublicAddress } from './address.ts';
import { FetchRefused } from './fetch-refused.ts';
import { type Resolve, readBoundedBody, sendPinned, settleBefore, toRefusal } from './pinned-request.ts';

/** A request to a server configured by the operator. */
export interface OperatorRequest {
  method?: string | undefined;
  headers?: RequestInit['headers'] | undefined;
  body?: unknown;
  signal?: AbortSignal | null | undefined;
}

/** Allowed locations of such servers, and limits of their responses. */
export interface OperatorFetchOptions {
  /** Allows addresses of private networks. */
  allowPrivateNetwork: boolean;
  /** Allows this machine, also without https. */
  dangerouslyFromLoopback: boolean;
  /** Maximum body size; default: 1 MiB. */
  maxBytes?: number;
  /** Timeout from the DNS query to the last byte; default: ten seconds. */
  timeoutMs?: number;
  /** `given` returns a redirect as a response; default: rejected. Redirects are never followed. */
  redirects?: 'given' | 'refused';
  /** Resolves a host; default: the system resolver, which knows local names. */
  resolve?: Resolve;
}

/**
 * Sends a request to a server configured by the operator and returns the whole response.
 * @param request its body is text, URL-encoded form data, or bytes
 * @throws FetchRefused
 */
export type OperatorFetch = (url: string | URL, request?: OperatorRequest) => Promise<Response>;

/** Maximum size of the response headers, in bytes. */
const maxHeaderBytes = 32_768;

const defaultMaxBytes = 1024 * 1024;
const defaultTimeoutMs = 10_000;

/** Statuses without a body (Fetch standard, "null body status"). */
const bodilessStatuses = [101, 103, 204, 205, 304];

const askSystem: Resolve = async (host) =>
  (await lookup(host, { all: true, verbatim: false })).map(({ address }) => address);

function textOf(body: unknown): string | undefined {
  return body === undefined || body === null ? undefined : String(body);
}

/**
 * Creates the fetch for servers configured by the operator, such as upstreams: https only, no redirect, no proxy, no
 * reused connection, only verified addresses, limited time and size (A12-01, T-084, T-088).
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
      // For some methods, such as DELETE, Node.js sends a body only with an explicit length.
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
