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

/** Bounds of a guarded fetch, and what tests put in the place of the world. */
export interface GuardedFetchOptions {
  /** Largest body. */
  maxBytes: number;
  /** From the question to the name server to the last byte. */
  timeoutMs: number;
  /** Fetches under way at once. A caller and a host have a quarter of them each; as many as this wait for either. */
  maxConcurrent: number;
  /** Returns the addresses of a host; asks the name servers by default. */
  resolve?: Resolve;
  /** Which addresses may be connected to; those of the public internet by default. */
  mayConnect?: (address: string) => boolean;
}

/** What a guarded fetch gives. */
export interface FetchedDocument {
  status: number;
  headers: IncomingHttpHeaders;
  /** Empty unless the status is 200: nobody is to act on the text of an error. */
  body: Buffer;
}

/**
 * Fetches an https URL that a stranger named.
 * @param url its URL
 * @param beforeConnect sees the addresses before a byte goes to any of them; what it throws ends the fetch
 * @param caller the address that caused the fetch, if that is known
 * @throws FetchRefused
 */
export type GuardedFetch = (
  url: URL,
  beforeConnect?: (addresses: readonly string[]) => Promise<void>,
  caller?: string,
) => Promise<FetchedDocument>;

/** Largest header of an answer, in bytes. */
const maxHeaderBytes = 8_192;

/**
 * Creates the fetch for URLs that strangers name (A12-01, A12-02). It resolves the host itself, refuses it unless each
 * of its addresses may be connected to, and connects to just these: no second question to a name server, no connection
 * that is used again, no redirect, no proxy, no agent or dispatcher that somebody else could set (T-067 to T-071).
 * `node:https` and not `fetch`, whose connections are out of our reach but for its internals (T-069).
 * Fetches that find no place wait by turns of callers and of hosts: one caller who names slow hosts does not keep the
 * documents of others out (T-206).
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

/** What of the process decides whether Node sends requests through a proxy. */
export interface ProcessEnvironment {
  env: Readonly<Record<string, string | undefined>>;
  execArgv: readonly string[];
}

const proxyVariables = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'] as const;

/**
 * Returns whether this process was told to send its requests through a proxy. Guarded fetches go to pinned addresses, and so
 * past a proxy: if one was meant to see all traffic, they must not be made at all (T-069). A proxy variable alone
 * says nothing; Node heeds it where `NODE_USE_ENV_PROXY` or `--use-env-proxy` stands beside it.
 * @returns the variable that names the proxy; undefined if there is none
 */
export function demandedProxy({ env, execArgv }: ProcessEnvironment): string | undefined {
  const switchedOn = !['', '0', undefined].includes(env.NODE_USE_ENV_PROXY);
  const asOption = [...execArgv, ...(env.NODE_OPTIONS ?? '').split(' ')].includes('--use-env-proxy');
  return switchedOn || asOption ? proxyVariables.find((name) => env[name]) : undefined;
}
