import { ClientError } from '../client-error.ts';
import type { Fetch } from '../context.ts';
import { isRedirect, nullBodyStatuses } from '../limited-fetch.ts';
import { describeFailure } from '../network-failure.ts';

async function requireNoRedirect(response: Response, url: string): Promise<void> {
  if (!isRedirect(response)) return;
  await response.body?.cancel();
  const target = URL.parse(response.headers.get('location') ?? '', url);
  const isOther = target !== null && /^https?:$/.test(target.protocol) && target.href !== url;
  const hint = isOther ? ` If you trust it, use ${target.origin}${target.pathname} as the URL.` : '';
  throw new ClientError('redirected', `${url} answered with a redirect, which is not followed.${hint}`);
}

/**
 * A fetch for MCP messages within limits: no redirects, a bounded wait for the head, bounded bodies and events.
 * @param fetch what requests go through; it may carry a login
 * @param limits how much of an answer is read
 * @returns a fetch; it rejects with ClientError `unreachable`, `timed_out` or `redirected`, and with what the given
 *   fetch and the signal of the request say
 * @see MCP transports "Streamable HTTP" (T-186, T-189)
 */
export function boundedFetch(fetch: Fetch, limits: AnswerLimits = {}): Fetch {
  const { maxAnswerBytes = defaultMaxAnswerBytes, headTimeoutMs = defaultHeadTimeoutMs } = limits;
  return async (target, init = {}) => {
    const url = String(target);
    const patience = new AbortController();
    const timer = setTimeout(() => patience.abort(), headTimeoutMs);
    const signal = init.signal ? AbortSignal.any([init.signal, patience.signal]) : patience.signal;
    try {
      const response = await fetch(target, { ...init, redirect: 'manual', signal });
      await requireNoRedirect(response, url);
      const { status, statusText, headers } = response;
      const body = nullBodyStatuses.has(status) ? null : boundedBody(response, url, maxAnswerBytes);
      return new Response(body, { status, statusText, headers });
    } catch (error) {
      if (init.signal?.aborted || error instanceof ClientError) throw error;
      if (patience.signal.aborted)
        throw new ClientError('timed_out', `${url} did not answer in time. Is the server up?`);
      throw new ClientError('unreachable', `${url} cannot be reached: ${describeFailure(error)}.`, {
        cause: error,
      });
    } finally {
      clearTimeout(timer);
    }
  };
}

/** How much of an answer is read. */
export interface AnswerLimits {
  /** Longest body, and longest event of an event stream, in bytes after decompression; 32 MiB unless told. */
  maxAnswerBytes?: number | undefined;
  /**
   * Longest wait for the head of an answer, in milliseconds; 5 minutes unless told. Servers may hold it back until a
   * tool has its result.
   */
  headTimeoutMs?: number | undefined;
}

/** See {@link AnswerLimits}. */
export const defaultMaxAnswerBytes = 32 * 1024 * 1024;

/** See {@link AnswerLimits}. */
export const defaultHeadTimeoutMs = 5 * 60_000;

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/**
 * Counts the bytes of an event stream since the last blank line, which ends an event.
 * @returns takes the next bytes, and says how long the longest event in them is so far
 * @see WHATWG HTML section 9.2.5 "Parsing an event stream": lines end with CR LF, LF or CR
 */
export function createEventMeter(): (chunk: Uint8Array) => number {
  let length = 0;
  let isLineEmpty = true;
  let wasCarriageReturn = false;
  return (chunk) => {
    let longest = 0;
    for (const byte of chunk) {
      length++;
      const isSecondHalf = byte === lineFeed && wasCarriageReturn;
      wasCarriageReturn = byte === carriageReturn;
      if (isSecondHalf) continue;
      if (byte !== lineFeed && byte !== carriageReturn) {
        isLineEmpty = false;
        continue;
      }
      if (isLineEmpty) {
        longest = Math.max(longest, length);
        length = 0;
      }
      isLineEmpty = true;
    }
    return Math.max(longest, length);
  };
}

/** @param headers of an answer @returns whether its body is an event stream */
export function isEventStream(headers: Headers): boolean {
  return /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');
}

/** Counts the bytes of a body that is one message. */
function createBodyMeter(): (chunk: Uint8Array) => number {
  let length = 0;
  return (chunk) => {
    length += chunk.byteLength;
    return length;
  };
}

/**
 * Bounds a body: it breaks off with an error where it is too long. An event stream may go on for ever, its events may
 * not (T-189).
 * @param response an answer whose body nobody has read
 * @param url what answered, for the message
 * @param maxBytes see {@link AnswerLimits}
 * @returns the body; reading it rejects with ClientError `too_large`
 */
export function boundedBody(
  { body, headers }: Response,
  url: string,
  maxBytes: number,
): ReadableStream<Uint8Array> | null {
  if (body === null) return null;
  const isStream = isEventStream(headers);
  const measure = isStream ? createEventMeter() : createBodyMeter();
  const what = isStream ? 'an event' : 'an answer';
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        if (measure(chunk) <= maxBytes) controller.enqueue(chunk);
        else
          controller.error(
            new ClientError('too_large', `${url} sent ${what} of more than ${maxBytes / 1024} KiB.`),
          );
      },
    }),
  );
}
