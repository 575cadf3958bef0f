import type { IncomingHttpHeaders } from 'node:http';
import { FairQueue, FairQueueFull } from '../collections/fair-queue.ts';
import { isPublicAddress } from './address.ts';
import { FetchRefused } from './fetch-refused.ts';
import {
  type Resolve,
  readBoundedBody,
  resolveHost,
  sendPinned,
  settleBefore,
  toRefusal,
} from './pinned-request.ts';

/** Limits of a guarded fetch, and replacements for tests. */
export interface GuardedFetchOptions {
  /** Maximum body size. */
  maxBytes: number;
  /** Timeout from the DNS query to the last byte. */
  timeoutMs: number;
  /** Maximum concurrent fetches. Each caller and each host gets a quarter; as many more wait for each. */
  maxConcurrent: number;
  /** Resolves a host; default: DNS. */
  resolve?: Resolve;
  /** Allowed addresses; default: those of the public internet. */
  mayConnect?: (address: string) => boolean;
}

/** The result of a guarded fetch. */
export interface FetchedDocument {
  status: number;
  headers: IncomingHttpHeaders;
  /** Empty unless the status is 200: the text of an error must not be used. */
  body: Buffer;
}

/**
 * Fetches an https URL chosen by a stranger.
 * @param beforeConnect called with the addresses before any connection; an error it throws ends the fetch
 * @param caller address of the client that caused the fetch, if known
 * @throws FetchRefused
 */
export type GuardedFetch = (
  url: URL,
  beforeConnect?: (addresses: readonly string[]) => Promise<void>,
  caller?: string,
) => Promise<FetchedDocument>;

/** Maximum size of the response headers, in bytes. */
const maxHeaderBytes = 8_192;

/**
 * Creates the fetch for URLs chosen by strangers (A12-01, A12-02). It resolves the host itself, rejects it unless all
 * its addresses are allowed, and connects only to these: no second DNS query, no reused connection, no redirect, no
 * proxy, no global agent or dispatcher (T-067 to T-071). It uses `node:https`, because the connections of `fetch` can
 * only be controlled through its internals (T-069). Waiting fetches are served fairly across callers and hosts: a
 * caller who names slow hosts does not block the documents of others (T-206).
 */
export function createGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const { maxBytes, timeoutMs, maxConcurrent, resolve = resolveHost, mayConnect = isPublicAddress } = options;
  const share = Math.ceil(maxConcurrent / 4);
  const queue = new FairQueue({
    running: maxConcurrent,
    waiting: 2 * maxConcurrent,
    perCaller: { running: share, waiting: maxConcurrent },
  });

  async function addressesOf(host: string, signal: AbortSignal): Promise<string[]> {
    const addresses = await settleBefore(signal, resolve(host, signal));
    if (addresses.length === 0) throw new FetchRefused('unreachable', 'the host has no address');
    if (!addresses.every(mayConnect))
      throw new FetchRefused('not_public', 'the host is not, or not only, on the public internet');
    return addresses;
  }

  async function fetchOnce(
    url: URL,
    signal: AbortSignal,
    beforeConnect?: (addresses: readonly string[]) => Promise<void>,
  ): Promise<FetchedDocument> {
    const addresses = await addressesOf(url.hostname.replace(/^\[|\]$/g, ''), signal);
    await beforeConnect?.(addresses);
    const headersAsked = {
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'gatehouse',
    };
    const response = await sendPinned(url, addresses, { headers: headersAsked, maxHeaderBytes, signal });
    try {
      const { statusCode: status = 0, headers } = response;
      return {
        status,
        headers,
        body: status === 200 ? await readBoundedBody(response, maxBytes) : Buffer.alloc(0),
      };
    } finally {
      response.destroy();
    }
  }

  async function fetchInTime(
    url: URL,
    beforeConnect?: (addresses: readonly string[]) => Promise<void>,
  ): Promise<FetchedDocument> {
    const limit = AbortSignal.timeout(timeoutMs);
    try {
      return await fetchOnce(url, limit, beforeConnect);
    } catch (cause) {
      throw toRefusal(cause, limit);
    }
  }

  return async (url, beforeConnect, caller) => {
    if (url.protocol !== 'https:' || url.username !== '' || url.password !== '')
      throw new FetchRefused('not_https', 'only https URLs without a user name are fetched');
    const callers = [`at ${url.hostname}`, ...(caller === undefined ? [] : [`by ${caller}`])];
    try {
      return await queue.run(callers, () => fetchInTime(url, beforeConnect));
    } catch (cause) {
      if (!(cause instanceof FairQueueFull)) throw cause;
      throw new FetchRefused('busy', 'too many documents are being fetched at this moment');
    }
  };
}

/** The parts of the process that decide if Node uses a proxy. */
export interface ProcessEnvironment {
  env: Readonly<Record<string, string | undefined>>;
  execArgv: readonly string[];
}

const proxyVariables = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'] as const;

/**
 * Returns the proxy variable if this process was told to use a proxy. Guarded fetches connect to pinned addresses and
 * so bypass a proxy: if a proxy has to see all traffic, they must not be made at all (T-069). Node uses a proxy
 * variable only with `NODE_USE_ENV_PROXY` or `--use-env-proxy`.
 * @returns name of the variable; undefined if no proxy is used
 */
export function demandedProxy({ env, execArgv }: ProcessEnvironment): string | undefined {
  const switchedOn = !['', '0', undefined].includes(env.NODE_USE_ENV_PROXY);
  const asOption = [...execArgv, ...(env.NODE_OPTIONS ?? '').split(' ')].includes('--use-env-proxy');
  return switchedOn || asOption ? proxyVariables.find((name) => env[name]) : undefined;
}
