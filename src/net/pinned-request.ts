import { Resolver } from 'node:dns/promises';
import {
  type IncomingMessage,
  type OutgoingHttpHeaders,
  Agent as PlainAgent,
  request as plainRequest,
} from 'node:http';
import { Agent, request } from 'node:https';
import { isIP } from 'node:net';
import { FetchRefused } from './fetch-refused.ts';

/** A request to verified addresses, with limits of its response. */
export interface PinnedRequest {
  method?: string | undefined;
  headers: OutgoingHttpHeaders;
  body?: string | Uint8Array | undefined;
  /** Maximum size of the response headers. */
  maxHeaderBytes: number;
  /** Aborts the request. */
  signal: AbortSignal;
}

/** Codes of node:tls for a certificate that is not valid for the host. */
const certificateFault = /^(ERR_TLS_|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERR_SSL_|HOSTNAME_MISMATCH)/;

/**
 * Sends a request to the first responding address, without another DNS query (T-068). It uses `node:https`, because the
 * connections of `fetch` can only be controlled through its internals (T-069).
 * @param url target; its host is used for the certificate and the request, whatever the address
 * @param addresses verified addresses
 * @returns the response with an unread body
 * @throws as node:http; {@link toRefusal} interprets it
 */
export function sendPinned(
  url: URL,
  addresses: readonly string[],
  { method = 'GET', headers, body, maxHeaderBytes, signal }: PinnedRequest,
): Promise<IncomingMessage> {
  const pinned = addresses.map((address) => ({ address, family: isIP(address) }));
  const isPlain = url.protocol === 'http:';
  return new Promise((settle, reject) => {
    const outgoing = (isPlain ? plainRequest : request)(url, {
      method,
      // A new agent: no proxy of the environment, no reused connection.
      agent: isPlain
        ? new PlainAgent({ keepAlive: false })
        : new Agent({ keepAlive: false, maxCachedSessions: 0 }),
      lookup: (_host, { all }, answer) =>
        all ? answer(null, pinned) : answer(null, pinned[0]?.address ?? '', pinned[0]?.family),
      // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED has no effect.
      rejectUnauthorized: true,
      maxHeaderSize: maxHeaderBytes,
      headers,
      signal,
    });
    outgoing.once('response', settle);
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/**
 * Waits for a promise within the time limit.
 * @throws the reason of the signal
 */
export function settleBefore<T>(signal: AbortSignal, answer: Promise<T>): Promise<T> {
  return new Promise((settle, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    answer.then(settle, reject);
  });
}

/**
 * Converts the error of a failed request. Only the code of a network error is kept as the cause: errors of Node.js may
 * contain bytes of the response (`rawPacket`) and text of the certificate, and causes are logged.
 * @param thrown the thrown value
 * @param limit its time limit
 * @returns a FetchRefused; other errors as they are
 */
export function toRefusal(thrown: unknown, limit: AbortSignal): unknown {
  if (thrown instanceof FetchRefused) return thrown;
  if (limit.aborted) return new FetchRefused('timeout', 'the host took too long to answer');
  const code = String((thrown as NodeJS.ErrnoException).code ?? '');
  if (code === '') return thrown;
  const cause = Object.assign(new Error(code), { code });
  return certificateFault.test(code)
    ? new FetchRefused('certificate', 'the host has no valid certificate', { cause })
    : new FetchRefused('unreachable', 'the host could not be reached', { cause });
}

/**
 * Returns all addresses of a host; an empty list if it has none.
 * @param host host name or address, as `hostname` of a URL without brackets
 * @param signal aborts the query
 */
export type Resolve = (host: string, signal: AbortSignal) => Promise<string[]>;

/** Timeout and number of tries of a DNS query. */
const patience = { timeout: 1_000, tries: 2 } as const;

/**
 * Resolves a host through the name servers of this machine, both families at once. `dns.lookup` would occupy a thread
 * of the pool that hashes passwords, as long as a slow name server takes.
 * @returns IPv4 addresses first
 */
export const resolveHost: Resolve = async (host, signal) => {
  if (isIP(host) !== 0) return [host];
  if (host === 'localhost' || host.endsWith('.localhost')) return ['127.0.0.1', '::1'];
  const resolver = new Resolver(patience);
  const stop = (): void => resolver.cancel();
  signal.addEventListener('abort', stop);
  try {
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  } finally {
    signal.removeEventListener('abort', stop);
  }
};

/**
 * Reads a response body up to a limit. A body that is announced as too large or is compressed is not read at all: data
 * that is not decompressed is no bomb (T-071).
 * @param response a response with an unread body
 * @throws FetchRefused
 */
export async function readBoundedBody(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const encoding = response.headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity')
    throw new FetchRefused('encoded', 'the answer is compressed, which was not asked for');
  const tooLarge = (): FetchRefused =>
    new FetchRefused('too_large', `the answer has more than ${maxBytes} bytes`);
  if (Number(response.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  const chunks: Buffer[] = [];
  let received = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    received += chunk.length;
    if (received > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
