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

/** A request, and the bounds of its answer. */
export interface PinnedRequest {
  method?: string | undefined;
  headers: OutgoingHttpHeaders;
  body?: string | Uint8Array | undefined;
  /** Largest header of the answer. */
  maxHeaderBytes: number;
  /** Ends it. */
  signal: AbortSignal;
}

/** What node:tls calls the ways in which a certificate is not the host's. */
const certificateFault = /^(ERR_TLS_|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERR_SSL_|HOSTNAME_MISMATCH)/;

/**
 * Sends a request to the first of the addresses that answers, without asking a name server again (T-068). `node:https`
 * and not `fetch`, whose connections are out of our reach but for its internals (T-069).
 * @param url where to; its host is in the certificate and in the request, whatever the address
 * @param addresses those that were looked at
 * @returns the answer with its body unread
 * @throws what node:http gives; {@link toRefusal} knows what it means
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
      // An agent of its own: no proxy of the environment, no connection from before.
      agent: isPlain
        ? new PlainAgent({ keepAlive: false })
        : new Agent({ keepAlive: false, maxCachedSessions: 0 }),
      lookup: (_host, { all }, answer) =>
        all ? answer(null, pinned) : answer(null, pinned[0]?.address ?? '', pinned[0]?.family),
      // Said here, so that NODE_TLS_REJECT_UNAUTHORIZED does not decide it.
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

/** Waits for an answer, but not beyond the time limit. @throws the reason of the signal */
export function settleBefore<T>(signal: AbortSignal, answer: Promise<T>): Promise<T> {
  return new Promise((settle, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    answer.then(settle, reject);
  });
}

/**
 * Returns what a failed request comes to. Of a failure of the network only its code goes on as the cause: what Node.js
 * throws may hold bytes of the answer (`rawPacket`) and text of the certificate, and causes end up in logs.
 * @param thrown what was thrown
 * @param limit the time limit it was under
 * @returns a FetchRefused; what was thrown if it is not of the network
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
 * Returns every address of a host; none if it has none.
 * @param host host name or address, as `hostname` of a URL without brackets
 * @param signal ends the search
 */
export type Resolve = (host: string, signal: AbortSignal) => Promise<string[]>;

/** How long one question to a name server may take, and how often it is asked. */
const patience = { timeout: 1_000, tries: 2 } as const;

/**
 * Asks the name servers of this machine, both families at once. Not `dns.lookup`: that holds a thread of the pool that
 * passwords are hashed in, for as long as somebody's name server likes.
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
 * Reads the body of an answer up to a limit, and not a byte of one that says it is larger or compressed: what is not
 * unpacked is no bomb (T-071).
 * @param response an answer whose body nobody has read
 * @param maxBytes limit
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
