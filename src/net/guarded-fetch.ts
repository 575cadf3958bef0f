import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { isIP } from 'node:net';
import { isPublicAddress } from './address.ts';
import { FetchRefused } from './fetch-refused.ts';
import { readBoundedBody } from './read-body.ts';
import { type Resolve, resolveHost } from './resolve.ts';

/** Bounds of a guarded fetch, and what tests put in the place of the world. */
export interface GuardedFetchOptions {
  /** Largest body. */
  maxBytes: number;
  /** From the question to the name server to the last byte. */
  timeoutMs: number;
  /** Fetches under way at once. */
  maxConcurrent: number;
  /** Gives the addresses of a host; asks the name servers by default. */
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
 * @throws FetchRefused
 */
export type GuardedFetch = (
  url: URL,
  beforeConnect?: (addresses: readonly string[]) => Promise<void>,
) => Promise<FetchedDocument>;

/** Largest header of an answer, in bytes. */
const maxHeaderBytes = 8_192;

/** What node:tls calls the ways in which a certificate is not the host's. */
const certificateFault = /^(ERR_TLS_|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERR_SSL_|HOSTNAME_MISMATCH)/;

/**
 * Creates the fetch for URLs that strangers name (A12-01, A12-02). It resolves the host itself, refuses it unless each
 * of its addresses may be connected to, and connects to just these: no second question to a name server, no connection
 * that is used again, no redirect, no proxy, no agent or dispatcher that somebody else could set (T-067 to T-071).
 * `node:https` and not `fetch`, whose connections are out of our reach but for its internals (T-069).
 */
export function createGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const { maxBytes, timeoutMs, maxConcurrent, resolve = resolveHost, mayConnect = isPublicAddress } = options;
  let underWay = 0;

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
    const response = await connect(url, addresses, signal);
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

  return async (url, beforeConnect) => {
    if (url.protocol !== 'https:' || url.username !== '' || url.password !== '')
      throw new FetchRefused('not_https', 'only https URLs without a user name are fetched');
    if (underWay >= maxConcurrent)
      throw new FetchRefused('busy', 'too many documents are being fetched at this moment');
    const limit = AbortSignal.timeout(timeoutMs);
    underWay += 1;
    try {
      return await fetchOnce(url, limit, beforeConnect);
    } catch (cause) {
      throw toRefusal(cause, limit);
    } finally {
      underWay -= 1;
    }
  };
}

/** Sends the request to the first of the addresses that answers, and gives the answer with its body unread. */
function connect(url: URL, addresses: readonly string[], signal: AbortSignal): Promise<IncomingMessage> {
  const pinned = addresses.map((address) => ({ address, family: isIP(address) }));
  return new Promise((settle, reject) => {
    const outgoing = request(url, {
      // An agent of its own: no proxy of the environment, no connection from before.
      agent: new Agent({ keepAlive: false, maxCachedSessions: 0 }),
      lookup: (_host, { all }, answer) =>
        all ? answer(null, pinned) : answer(null, pinned[0]?.address ?? '', pinned[0]?.family),
      // Said here, so that NODE_TLS_REJECT_UNAUTHORIZED does not decide it.
      rejectUnauthorized: true,
      maxHeaderSize: maxHeaderBytes,
      headers: { accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'gatehouse' },
      signal,
    });
    outgoing.once('response', settle);
    outgoing.on('error', reject);
    outgoing.end();
  });
}

/** Waits for an answer, but not beyond the time limit. */
function settleBefore<T>(signal: AbortSignal, answer: Promise<T>): Promise<T> {
  return new Promise((settle, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    answer.then(settle, reject);
  });
}

function toRefusal(cause: unknown, limit: AbortSignal): unknown {
  if (cause instanceof FetchRefused) return cause;
  if (limit.aborted) return new FetchRefused('timeout', 'the host took too long to answer', { cause });
  const code = String((cause as NodeJS.ErrnoException).code ?? '');
  if (code === '') return cause;
  return certificateFault.test(code)
    ? new FetchRefused('certificate', 'the host has no valid certificate', { cause })
    : new FetchRefused('unreachable', 'the host could not be reached', { cause });
}
